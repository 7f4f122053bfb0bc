#include "common/base/file_lock.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/write_whole.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

class FileLockTest : public testing::Test {
 protected:
  std::string refusal() const {
    const auto lock = FileLock::take(file);
    return lock ? "taken" : lock.error().message;
  }
  ScopedFolder folder;
  const std::string file = (folder.path() / "answers").string();
};

// A child that holds the lock until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& file) {
    int ends[2];
    if (pipe(ends) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      const auto lock = FileLock::take(file);
      const char took = lock ? 'y' : 'n';
      [[maybe_unused]] const auto told = write(ends[1], &took, 1);
      for (;;) pause();
    }
    char took = 'n';
    took_ = read(ends[0], &took, 1) == 1 && took == 'y';
    close(ends[0]);
    close(ends[1]);
  }
  ~Holder() { stop(); }
  bool took() const { return took_; }
  void stop() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = -1;
  bool took_ = false;
};

TEST_F(FileLockTest, IsOneProcesssAtATimeAndDiesWithIt) {
  EXPECT_FALSE(FileLock::is_held(file));
  Holder holder(file);
  ASSERT_TRUE(holder.took());
  EXPECT_TRUE(FileLock::is_held(file));
  EXPECT_THAT(refusal(), HasSubstr("a process that runs uses it (it holds " + file + ".lock)"));
  holder.stop();
  EXPECT_FALSE(FileLock::is_held(file));
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(FileLockTest, ExcludesASecondOneOfTheSameProcess) {
  auto first = std::optional(FileLock::take(file).value());
  EXPECT_THAT(refusal(), HasSubstr("a process that runs uses it"));
  EXPECT_TRUE(FileLock::is_held(file)) << "a refused one, and a look, took nothing from the first";
  first.reset();
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(FileLockTest, SurvivesThatTheFileIsReplaced) {
  const auto lock = FileLock::take(file).value();
  for (const char* text : {"one", "two"}) ASSERT_TRUE(replace_whole(file, text, "the file"));
  EXPECT_TRUE(FileLock::is_held(file));
  EXPECT_NE(refusal(), "taken");
}

TEST_F(FileLockTest, IsFoundThroughAnotherNameOfItsFolder) {
  const auto lock = FileLock::take(file).value();
  const std::string other = (folder.path() / "other").string();
  std::filesystem::create_directory_symlink(folder.path(), other);
  EXPECT_TRUE(FileLock::is_held(other + "/answers"));
}

TEST_F(FileLockTest, AskingWhetherItIsHeldMakesNothing) {
  EXPECT_FALSE(FileLock::is_held(file));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(FileLockTest, SaysWhyItCannotBeOpened) {
  const auto lock = FileLock::take((folder.path() / "nowhere" / "answers").string());
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr("answers.lock cannot be opened: No such file or directory"));
}

TEST_F(FileLockTest, MovesWithItsObject) {
  auto first = FileLock::take(file).value();
  {
    const FileLock second = std::move(first);
    EXPECT_TRUE(FileLock::is_held(file));
  }
  EXPECT_FALSE(FileLock::is_held(file));
}

}  // namespace
}  // namespace slipstream
