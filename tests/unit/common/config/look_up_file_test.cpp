#include "common/config/look_up_file.h"

#include <unistd.h>

#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LookUpFileTest : public testing::Test {
 protected:
  static std::string problem(const std::string& path) {
    const auto good = check_look_up_file(path);
    return good ? "" : good.error().message;
  }
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  ScopedFolder folder;
};

TEST_F(LookUpFileTest, IsFineWhereThereIsNoneOrOneOfOurs) {
  EXPECT_EQ(problem(path("answers")), "");
  EXPECT_EQ(problem(folder.write("whole", "SLIPTEXT and more")), "");
  EXPECT_EQ(problem(folder.write("cut", "SLIP")), "");
  EXPECT_EQ(problem(folder.write("empty", "")), "");
  EXPECT_FALSE(std::filesystem::exists(path("answers.lock"))) << "a look changes nothing";
}

TEST_F(LookUpFileTest, IsRefusedWithWhatToDo) {
  EXPECT_THAT(problem(path("nowhere/answers")),
              AllOf(HasSubstr("--look-up-file " + path("nowhere/answers")), HasSubstr(path("nowhere") + " is no folder"),
                    HasSubstr("make it, or name another file")));
  EXPECT_THAT(problem(folder.write("letter", "Dear all,")), HasSubstr("is no file of remembered answers"));
  EXPECT_THAT(problem(folder.path().string()), HasSubstr("is no file of remembered answers"));
}

TEST_F(LookUpFileTest, IsRefusedWhereItOrItsFolderHasOtherOwners) {
  if (geteuid() == 0) GTEST_SKIP() << "the superuser may read and write everything";
  const std::string hidden = folder.write("hidden", "SLIPTEXT");
  std::filesystem::permissions(hidden, std::filesystem::perms::none);
  EXPECT_THAT(problem(hidden), AllOf(HasSubstr("it cannot be read (Permission denied)"), HasSubstr("name another file")));
  const std::string theirs = folder.write("theirs/answers", "SLIPTEXT");
  std::filesystem::permissions(path("theirs"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_THAT(problem(theirs), HasSubstr("is no folder that this process may write to"));
  std::filesystem::permissions(path("theirs"), std::filesystem::perms::owner_all);
}

TEST_F(LookUpFileTest, IsOneProcesss) {
  const std::string answers = path("answers");
  const auto words = AllOf(HasSubstr("--look-up-file " + answers + ": a process that runs uses it"),
                           HasSubstr("give each process a file of its own"));
  auto lock = std::optional(take_look_up_file(answers).value());
  EXPECT_THAT(problem(answers), words);
  EXPECT_THAT(take_look_up_file(answers).error().message, words);
  lock.reset();
  EXPECT_EQ(problem(answers), "");
}

TEST_F(LookUpFileTest, IsNotTakenWhereItIsRefused) {
  const std::string letter = folder.write("letter", "Dear all,");
  EXPECT_FALSE(take_look_up_file(letter));
  EXPECT_FALSE(std::filesystem::exists(letter + ".lock"));
}

}  // namespace
}  // namespace slipstream
