#include "services/verifier/send_window.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using std::chrono_literals::operator""ms;

constexpr Time kNow = 1000ms;

// A window whose messages of one token each are all on their way.
SendWindow full() {
  SendWindow window(10);
  for (int32_t end = 11; end <= 10 + kTokensInFlight; ++end) window.sent(end, kNow);
  return window;
}

TEST(SendWindow, HoldsBackWhatIsEmittedBehindAFullWindow) {
  SendWindow window(10);
  EXPECT_EQ(window.next(10), std::nullopt) << "nothing new";
  for (int32_t i = 0; i < kTokensInFlight; ++i) {
    EXPECT_EQ(window.next(11 + i), 10 + i);
    window.sent(11 + i, kNow);
  }
  EXPECT_EQ(window.next(40), std::nullopt);
  EXPECT_EQ(window.acked(), 10);
}

TEST(SendWindow, SendsAllThatWasHeldBackAtTheNextAck) {
  SendWindow window = full();
  window.ack(11, kNow);
  EXPECT_EQ(window.next(40), 10 + kTokensInFlight);
  window.sent(40, kNow);
  EXPECT_EQ(window.next(41), std::nullopt) << "one Ack, one message";
}

TEST(SendWindow, AnAckCoversAllMessagesBeforeIt) {
  SendWindow window = full();
  window.ack(10 + kTokensInFlight, kNow);
  EXPECT_EQ(window.resend_at(10 + kTokensInFlight), std::nullopt);
  for (int32_t i = 0; i < kTokensInFlight; ++i) {
    ASSERT_TRUE(window.next(100 + i));
    window.sent(100 + i, kNow);
  }
  EXPECT_EQ(window.next(200), std::nullopt);
}

TEST(SendWindow, AnAckThatMovesNothingAsksForTheRestAgain) {
  SendWindow window = full();
  window.ack(10, kNow);
  EXPECT_EQ(window.next(40), 10);
}

TEST(SendWindow, GoesOnBehindAnAckForWhatWasSentBeforeItBeganAgain) {
  SendWindow window = full();
  window.again();
  window.ack(12, kNow);
  EXPECT_EQ(window.next(40), 12);
}

TEST(SendWindow, AFinishIsUnackedThoughAllTokensAreThere) {
  SendWindow window(0);
  window.sent(6, kNow);  // five tokens and the finish
  window.ack(5, kNow);
  EXPECT_EQ(window.next(6), std::nullopt);
  EXPECT_EQ(window.resend_at(6), kNow + kResendInterval);
  window.again();
  EXPECT_EQ(window.next(6), 5);
}

TEST(SendWindow, SendsAgainAtGrowingGapsUntilAnAckMovesOn) {
  SendWindow window(0);
  window.sent(1, kNow);
  Time now = kNow;
  for (const Time gap : {200ms, 400ms, 800ms, 800ms, 800ms}) {
    EXPECT_EQ(window.resend_at(1), now + gap);
    now += gap;
    window.again();
    window.sent(1, now);
  }
  window.ack(1, now);
  window.sent(2, now);
  EXPECT_EQ(window.resend_at(2), now + 200ms);
}

}  // namespace
}  // namespace slipstream
