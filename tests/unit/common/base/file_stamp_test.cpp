#include "common/base/file_stamp.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace slipstream {
namespace {

class FileStamps : public testing::Test {
 protected:
  FileStamps() {
    std::string pattern = (std::filesystem::temp_directory_path() / "slipstream-stamp-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    write("one", "text");
  }
  ~FileStamps() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path at(const char* name) const { return folder_ / name; }
  void write(const char* name, const char* text) const { std::ofstream(at(name)) << text; }

  std::filesystem::path folder_;
};

TEST_F(FileStamps, AreEqualWhileNothingChanges) { EXPECT_EQ(FileStamp::of(at("one")), FileStamp::of(at("one"))); }

TEST_F(FileStamps, DifferWhereAFileGrowsOrAnotherTakesItsPlace) {
  const FileStamp first = FileStamp::of(at("one"));
  write("one", "texts");
  const FileStamp second = FileStamp::of(at("one"));
  EXPECT_NE(first, second);
  write("two", "texts");
  std::filesystem::rename(at("two"), at("one"));
  EXPECT_NE(second, FileStamp::of(at("one")));
}

TEST_F(FileStamps, AreThoseOfTheFileThatALinkLeadsTo) {
  std::filesystem::create_symlink("one", at("link"));
  EXPECT_EQ(FileStamp::of(at("link")), FileStamp::of(at("one")));
}

TEST_F(FileStamps, AWatchTellsEachChangeOfOneOfItsFilesOnce) {
  write("two", "text");
  FileWatch watch({at("one"), at("two")});
  FileWatch::Clock::time_point now{};
  const auto later = [&] { return now += FileWatch::kBetweenLooks; };
  EXPECT_FALSE(watch.changed(later()));
  write("two", "texts");
  EXPECT_FALSE(watch.changed(now)) << "it has just looked";
  EXPECT_TRUE(watch.changed(later()));
  EXPECT_EQ(watch.stamps().back(), FileStamp::of(at("two")));
  EXPECT_FALSE(watch.changed(later()));
  std::filesystem::remove(at("one"));
  EXPECT_TRUE(watch.changed(later()));
  EXPECT_FALSE(watch.changed(later())) << "it is still gone";
}

TEST(FileWatch, OfNoFileNothingChanges) { EXPECT_FALSE(FileWatch().changed(FileWatch::Clock::now())); }

TEST_F(FileStamps, OfNoFileAreZero) { EXPECT_EQ(FileStamp::of(at("none")), FileStamp{}); }

}  // namespace
}  // namespace slipstream
