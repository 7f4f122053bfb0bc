#include "common/base/write_whole.h"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat there{};
  return stat(path.c_str(), &there) == 0 ? there.st_mode & 0777 : 0;
}

TEST(ReplaceWhole, GivesAFileItsNewTextAndItsMode) {
  const ScopedFolder folder;
  const std::string path = (folder.path() / "a").string();
  ASSERT_TRUE(replace_whole(path, "a long text", "the file"));
  ASSERT_TRUE(replace_whole(path, "short", "the file", 0600));
  EXPECT_EQ(text_of(path), "short");
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is left beside";
}

TEST(ReplaceWhole, NeverReplacesADevice) {
  const auto written = replace_whole("/dev/null", "text", "the file");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "/dev/null is no file that the file could replace: name another one");
}

}  // namespace
}  // namespace slipstream
