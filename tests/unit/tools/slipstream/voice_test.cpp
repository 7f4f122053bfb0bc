#include "tools/slipstream/voice.h"

#include <fcntl.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

class VoiceTest : public testing::Test {
 protected:
  VoiceTest() {
    EXPECT_EQ(pipe(ends_.data()), 0);
    EXPECT_EQ(fcntl(ends_[1], F_SETPIPE_SZ, 4096), 4096);
  }
  ~VoiceTest() override {
    for (int end : ends_) close(end);
  }
  std::string read_all() {
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    std::string text(64 * 1024, ' ');
    const ssize_t size = read(ends_[0], text.data(), text.size());
    return text.substr(0, size < 0 ? 0 : static_cast<size_t>(size));
  }
  std::array<int, 2> ends_{};
};

TEST_F(VoiceTest, SaysLines) {
  Voice voice(ends_[1]);
  voice.say("drafter is back");
  EXPECT_EQ(read_all(), "drafter is back\n");
}

TEST_F(VoiceTest, WaitsForNobodyAndCountsWhatNobodyRead) {
  Voice voice(ends_[1]);
  for (int i = 0; i < 10; ++i) voice.say(std::string(3000, 'x'));  // would stop here for ever
  EXPECT_EQ(read_all(), std::string(3000, 'x') + "\n");
  voice.say("drafter is back");
  EXPECT_EQ(read_all(), "(9 lines before this one were not said: nobody read them)\ndrafter is back\n");
  voice.say("again");
  EXPECT_EQ(read_all(), "again\n");
}

TEST(Voice, OutlivesAFullDisk) {
  const int full = open("/dev/full", O_WRONLY);
  Voice voice(full);
  voice.say("drafter is back");
  close(full);
}

}  // namespace
}  // namespace slipstream::command
