#include "services/verifier/drain.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

TEST(VerifierDrain, TellsHowManySequencesGoOnAndForHowLong) {
  EXPECT_EQ(told_to_stop({.live = 3}, 25s),
            "told to stop: each of 3 sequences goes on until another verifier has it, for at most 25000 ms (--drain-ms)");
  EXPECT_EQ(told_to_stop({.live = 1}, 5ms),
            "told to stop: 1 sequence goes on until another verifier has it, for at most 5 ms (--drain-ms)");
  EXPECT_EQ(told_to_stop({}, 25s), "told to stop: no sequence is here");
}

TEST(VerifierDrain, TellsWhatBecameOfThem) {
  const VerifierCounters told{.sequences_delivered = 10, .sequences_cancelled = 5, .live = 6};
  const VerifierCounters now{.sequences_delivered = 11, .sequences_cancelled = 8, .leases_expired = 1, .live = 1};
  EXPECT_EQ(stopped(told, now), "stopped: of 6 here 1 finished, 4 handed over or given up by their routers, 1 cut");
  EXPECT_EQ(stopped({.sequences_delivered = 9}, {.sequences_delivered = 9}), "stopped");
}

}  // namespace
}  // namespace slipstream
