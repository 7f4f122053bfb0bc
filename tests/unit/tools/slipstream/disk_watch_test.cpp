#include "tools/slipstream/disk_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(DiskWatch, SaysOnceThatADiskIsFullAndWhatToDo) {
  DiskWatch watch("/var/run-folder");
  EXPECT_EQ(watch.look(1'000'000), "");
  EXPECT_THAT(watch.look(0), AllOf(HasSubstr("the disk of /var/run-folder is full"), HasSubstr("make room there")));
  EXPECT_EQ(watch.look(0), "");
}

TEST(DiskWatch, SaysThatThereIsRoomAgainOnceItLasts) {
  DiskWatch watch("/var/run-folder");
  watch.look(0);
  EXPECT_EQ(watch.look(4096), "");
  EXPECT_EQ(watch.look(0), "") << "it was said";
  EXPECT_THAT(watch.look(kRoomAgain), HasSubstr("has room again"));
  EXPECT_EQ(watch.look(kRoomAgain), "");
  EXPECT_THAT(watch.look(0), HasSubstr("is full"));
}

TEST(DiskWatch, SaysNothingOfWhatItCannotTell) { EXPECT_EQ(DiskWatch("/no/such/folder").look(), ""); }

}  // namespace
}  // namespace slipstream::command
