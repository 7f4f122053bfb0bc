#include "common/zmq/connection_watch.h"

#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

constexpr int kGood = 10, kBad = 11;
constexpr size_t kMiB = 1024 * 1024;

class ConnectionWatchTest : public ::testing::Test {
 protected:
  // One round: `read` is what happens between the readings and the verdict. The socket is found
  // empty unless it is said to be busy.
  std::vector<Cut> round(const std::function<void()>& read = [] {}) {
    now_ += ConnectionWatch::kPeriod;
    EXPECT_TRUE(watch_.due(now_));
    watch_.read(now_, [this](int fd) { return std::optional<uint64_t>(taken_[fd]); });
    read();
    if (!busy_) watch_.emptied();
    return watch_.check();
  }
  void message(int fd, size_t bytes) {  // arrives, and is read
    taken_[fd] += bytes;
    watch_.delivered(fd, bytes);
  }

  ConnectionWatch watch_{ConnectionWatch::Side::bound};
  ConnectionWatch::Time now_{1'000'000};
  std::map<int, uint64_t> taken_;
  bool busy_ = false;
};

TEST_F(ConnectionWatchTest, CutsWhoTakesMemoryAndDeliversNothing) {
  watch_.opened(kGood, 100);
  watch_.opened(kBad, 101);
  for (int n = 0; n < 100; ++n) {
    message(kGood, kMiB);
    EXPECT_TRUE(round().empty());
  }
  message(kBad, 40);
  EXPECT_TRUE(round().empty());
  taken_[kBad] += kUnfinishedBytesMax;
  EXPECT_TRUE(round().empty()) << "a message of the largest size that has nearly come";
  taken_[kBad] += 1;
  const auto cuts = round();
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].fd, kBad);
  EXPECT_EQ(cuts[0].cookie, 101u);
  EXPECT_EQ(cuts[0].why, CutReason::held);
  taken_[kBad] += 10 * kMiB;
  EXPECT_TRUE(round().empty()) << "each is cut once";
}

TEST_F(ConnectionWatchTest, WhatZmtpSaysBesideMessagesIsForgottenWithTheNextMessage) {
  watch_.opened(kGood, 100);
  watch_.heard(kGood);
  for (int n = 0; n < 1000; ++n) {
    taken_[kGood] += 10'000;  // pings
    message(kGood, 50);
    EXPECT_TRUE(round().empty());
  }
}

TEST_F(ConnectionWatchTest, ABurstThatIsTakenAndDeliveredWithinOneRoundIsNotHeldAfterwards) {
  watch_.opened(kGood, 100);
  watch_.heard(kGood);
  const auto burst = [this] {
    for (int64_t bytes = 0; bytes <= kUnfinishedBytesMax; bytes += kMiB) message(kGood, kMiB);
  };
  EXPECT_TRUE(round(burst).empty());
  for (int n = 0; n < 100; ++n) EXPECT_TRUE(round().empty()) << "silent since";
  taken_[kGood] += kUnfinishedBytesMax;
  EXPECT_TRUE(round().empty()) << "a message of the largest size that has nearly come";
  taken_[kGood] += 1;
  EXPECT_EQ(round().size(), 1u);
}

TEST_F(ConnectionWatchTest, ABusySocketHidesNobody) {
  busy_ = true;
  watch_.opened(kGood, 100);
  watch_.opened(kBad, 101);
  message(kBad, 40);
  const auto flood = [this] {
    for (int n = 0; n < 100; ++n) message(kGood, 1000);
  };
  EXPECT_TRUE(round(flood).empty());
  EXPECT_TRUE(round(flood).empty());
  taken_[kBad] += kUnfinishedBytesMax + 1;
  const auto cuts = round(flood);
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].fd, kBad);
}

TEST_F(ConnectionWatchTest, ARoundThatIsNeitherEmptyNorLongEnoughGoesOn) {
  busy_ = true;
  watch_.opened(kGood, 100);
  EXPECT_TRUE(round([this] { message(kGood, 10); }).empty());
  EXPECT_FALSE(watch_.due(now_ + 10 * ConnectionWatch::kPeriod)) << "else its readings would be lost";
  watch_.emptied();
  EXPECT_TRUE(watch_.check().empty());
  EXPECT_TRUE(watch_.due(now_ + ConnectionWatch::kPeriod));
}

TEST_F(ConnectionWatchTest, WholeMessagesThatWaitHaveALimitToo) {
  busy_ = true;
  watch_.opened(kGood, 100);
  const auto slowly = [this] {
    for (int n = 0; n < 100; ++n) watch_.delivered(kGood, 1000);
  };
  taken_[kGood] = 10 * kMiB;
  EXPECT_TRUE(round(slowly).empty());
  taken_[kGood] = kHeldBytesMax + 300'000;
  EXPECT_EQ(round(slowly).size(), 1u);
}

TEST_F(ConnectionWatchTest, ManyThatHoldALittleHoldTooMuchTogether) {
  const auto each = static_cast<uint64_t>(kUnfinishedBytesMax);
  const int few = static_cast<int>(kHeldBytesTotalMax / kUnfinishedBytesMax);
  for (int fd = 0; fd <= few; ++fd) {
    watch_.opened(fd, 100);
    taken_[fd] = each - static_cast<uint64_t>(fd);
  }
  const auto cuts = round();
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].fd, 0) << "who holds most";
}

TEST_F(ConnectionWatchTest, CutsWhoNeverSpeaks) {
  watch_.opened(kGood, 100);
  watch_.opened(kBad, 101);
  watch_.heard(kGood);
  const int rounds = kSpeechlessMs * 1000 / static_cast<int>(ConnectionWatch::kPeriod.count());
  std::vector<Cut> cuts;
  for (int n = 0; n <= rounds && cuts.empty(); ++n) cuts = round();
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].fd, kBad);
  EXPECT_EQ(cuts[0].why, CutReason::speechless);
}

TEST_F(ConnectionWatchTest, TheTimeThatWeSleptIsNobodysSilence) {
  watch_.opened(kGood, 100);
  now_ += std::chrono::hours(1);
  EXPECT_TRUE(round().empty());
}

TEST_F(ConnectionWatchTest, OfTooManyTheOldestSpeechlessGoFirstThenTheNewest) {
  for (int fd = 0; fd < kConnectionsMax + 3; ++fd) {
    watch_.opened(fd, 1000 + static_cast<uint64_t>(fd));
    if (fd != 5 && fd != 7) watch_.heard(fd);
  }
  auto cuts = round();
  ASSERT_EQ(cuts.size(), 3u);
  EXPECT_EQ(cuts[0].fd, 5);
  EXPECT_EQ(cuts[1].fd, 7);
  EXPECT_EQ(cuts[2].fd, kConnectionsMax + 2);
  EXPECT_EQ(cuts[2].why, CutReason::too_many);
  for (const Cut& cut : cuts) watch_.closed(cut.fd);
  EXPECT_TRUE(round().empty());
}

TEST_F(ConnectionWatchTest, ANewConnectionOnAnOldNumberBeginsAnew) {
  watch_.opened(kBad, 100);
  taken_[kBad] = static_cast<uint64_t>(kUnfinishedBytesMax);
  EXPECT_TRUE(round().empty());
  watch_.closed(kBad);
  watch_.opened(kBad, 101);
  taken_[kBad] = 2;
  EXPECT_TRUE(round().empty());
  EXPECT_FALSE(watch_.cut(kGood, CutReason::frames)) << "nobody there";
  EXPECT_EQ(watch_.cut(kBad, CutReason::frames)->cookie, 101u);
  EXPECT_FALSE(watch_.cut(kBad, CutReason::frames)) << "once";
}

}  // namespace
}  // namespace slipstream
