// Live requests move to a verifier that has much less to do: slowly, one at a time, without losing
// a token, never to and fro.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

Hello wide(Peer peer) {
  Hello hello = verifier(peer);
  hello.context_max = 1000;
  hello.sequences_max = 64;
  return hello;
}
RouterConfig wide_config() {
  RouterConfig wide = config();
  wide.context_max = 1000;
  return wide;
}

class RebalanceTest : public testing::Test {
 protected:
  // So many live requests at the first verifier, each with one token out; then the second one
  // joins.
  void load(int requests, int32_t output_max = 200, size_t prompt = 3) {
    stage.hears(kVerifier, wide(kVerifier));
    for (RequestId id = 1; id <= static_cast<RequestId>(requests); ++id) {
      Submit submit = ask(id, output_max);
      submit.prompt.assign(prompt, 10);
      stage.tell(submit);
      tokens(kVerifier, id, 1, 0, {20});
    }
    stage.hears(kSpare, wide(kSpare));
    stage.forget();
  }
  void tokens(Peer peer, RequestId id, Epoch epoch, int32_t first, std::vector<TokenId> ids) {
    const auto count = ids.size();
    stage.hears(peer, Tokens{.sequence = {kRouter, id},
                             .epoch = epoch,
                             .first_index = first,
                             .ids = std::move(ids),
                             .drafted = std::vector<uint8_t>(count),
                             .depths = std::vector<uint8_t>(count)});
  }
  // Time passes; both heartbeat with what they have, and answer what starts there.
  void lives(milliseconds duration) {
    for (milliseconds t{0}; t < duration; t += milliseconds(100)) {
      stage.waits(milliseconds(100));
      while (!stage.silent<Start>()) {
        const To<Start> start = stage.says<Start>();
        stage.hears(start.peer, Accepted{start.message.sequence, start.message.epoch});
        const auto same = [&](const To<Start>& other) {
          return other.message.sequence == start.message.sequence && other.message.epoch == start.message.epoch;
        };
        if (start.message.epoch > 1 && std::ranges::none_of(moved, same)) moved.push_back(start);
      }
      ++steps;
      for (Peer peer : {kVerifier, kSpare}) stage.hears(peer, WorkerHeartbeat{.steps = steps});
    }
  }

  Router router{wide_config()};
  Stage<Router> stage{router};
  std::vector<To<Start>> moved;  // each once
  uint64_t steps = 0;
};

TEST_F(RebalanceTest, AVerifierThatJoinsUnderLoadGetsSequences) {
  load(8);
  lives(milliseconds(1500));
  ASSERT_FALSE(moved.empty());
  const To<Start>& start = moved[0];
  EXPECT_EQ(start.peer, kSpare);
  EXPECT_EQ(start.message.epoch, 2u);
  EXPECT_THAT(start.message.tokens, ElementsAre(10, 10, 10, 20)) << "prompt and what is out";
  EXPECT_EQ(stage.says<Cancel>().peer, kVerifier);
}

TEST_F(RebalanceTest, NoTokenIsLostOrDoubledByAMove) {
  load(8);
  lives(milliseconds(1300));
  ASSERT_EQ(moved.size(), 1u);
  const RequestId id = moved[0].message.sequence.counter;
  tokens(kVerifier, id, 1, 1, {21, 22});  // on its way when it was moved
  EXPECT_TRUE(stage.idle<Delivery>());
  tokens(kSpare, id, 2, 1, {21});
  EXPECT_THAT(stage.does<Delivery>().ids, ElementsAre(21));
}

TEST_F(RebalanceTest, MovesOneAtATimeUntilTheGapIsClosed) {
  load(8);
  lives(milliseconds(1300));
  EXPECT_EQ(moved.size(), 1u);
  lives(milliseconds(300));
  EXPECT_EQ(moved.size(), 1u) << "half a second between two";
  lives(milliseconds(10'000));
  EXPECT_EQ(moved.size(), 3u) << "five and three are near enough";
  EXPECT_EQ(router.counters().moved, 3u);
}

TEST_F(RebalanceTest, AGapThatDoesNotLastMovesNothing) {
  load(8);
  lives(milliseconds(800));
  stage.down(kSpare);
  stage.hears(kSpare, wide(kSpare));
  lives(milliseconds(800));
  EXPECT_TRUE(moved.empty());
}

TEST_F(RebalanceTest, NeverToOneWhoseStepFailed) {
  load(9);
  stage.hears(kVerifier, Tokens{.sequence = {kRouter, 9}, .epoch = 1, .first_index = 1, .finish = Finish::cancelled});
  const To<Start> start = stage.says<Start>();
  ASSERT_EQ(start.peer, kSpare) << "it has nothing to do";
  stage.hears(kSpare,
              Tokens{.sequence = {kRouter, 9}, .epoch = start.message.epoch, .first_index = 1, .finish = Finish::error});
  stage.forget();
  lives(milliseconds(5000));
  EXPECT_TRUE(std::ranges::none_of(moved, [](const To<Start>& other) { return other.peer == kSpare; }));
}

TEST_F(RebalanceTest, ASmallGapMovesNothing) {
  load(2);
  lives(milliseconds(5000));
  EXPECT_TRUE(moved.empty());
}

TEST_F(RebalanceTest, ALongPromptIsNotComputedAnewForAShortRest) {
  load(8, 20, 300);
  lives(milliseconds(5000));
  EXPECT_TRUE(moved.empty());
}

TEST_F(RebalanceTest, NeverToOtherNumerics) {
  stage.hears(kVerifier, wide(kVerifier));
  for (RequestId id = 1; id <= 8; ++id) {
    stage.tell(ask(id, 200));
    tokens(kVerifier, id, 1, 0, {20});
  }
  Hello other = wide(kSpare);
  other.numerics_id = "gpu-test";
  stage.hears(kSpare, other);
  stage.forget();
  lives(milliseconds(5000));
  EXPECT_TRUE(moved.empty());
}

TEST_F(RebalanceTest, NeverToOneThatIsNotHeardAnyMore) {
  load(8);
  for (int i = 0; i < 15; ++i) {
    stage.waits(milliseconds(100));
    stage.hears(kVerifier, WorkerHeartbeat{.steps = ++steps});
  }
  EXPECT_TRUE(stage.silent<Start>());
}

TEST_F(RebalanceTest, WhatWasMovedRestsAndNeverReturns) {
  load(8);
  lives(milliseconds(4000));
  ASSERT_EQ(moved.size(), 3u);
  for (RequestId id = 1; id <= 8; ++id) {  // those that stayed end
    if (std::ranges::none_of(moved, [&](const auto& start) { return start.message.sequence.counter == id; })) {
      stage.tell(Abandon{id});
    }
  }
  lives(milliseconds(30'000));
  EXPECT_EQ(moved.size(), 3u);
}

TEST(Rebalance, CanBeSwitchedOff) {
  RouterConfig never = wide_config();
  never.rebalance_ms = 0;
  Router router(never);
  Stage<Router> stage(router);
  stage.hears(kVerifier, wide(kVerifier));
  for (RequestId id = 1; id <= 8; ++id) {
    stage.tell(ask(id, 200));
    stage.hears(kVerifier, Accepted{{kRouter, id}, 1});
  }
  stage.hears(kSpare, wide(kSpare));
  stage.forget();
  for (uint64_t i = 1; i < 50; ++i) {
    stage.waits(milliseconds(100));
    for (Peer peer : {kVerifier, kSpare}) stage.hears(peer, WorkerHeartbeat{.sequences = 8, .steps = i});
  }
  EXPECT_EQ(router.counters().moved, 0u);
}

}  // namespace
}  // namespace slipstream
