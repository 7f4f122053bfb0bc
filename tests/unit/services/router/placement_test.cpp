#include "services/router/placement.h"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using Why = Placement::Why;

class PlacementTest : public testing::Test {
 protected:
  KnownWorker& join(Peer peer, int32_t sequences_max = 8) {
    Hello hello = verifier(peer);
    hello.sequences_max = sequences_max;
    EXPECT_TRUE(workers.welcome(peer, hello, Time(0)));
    return *workers.find(peer);
  }
  void heartbeat(KnownWorker& worker, uint32_t sequences, uint32_t waiting = 0) {
    workers.heartbeat(worker, {.sequences = sequences, .waiting = waiting}, Time(0));
  }
  Peer picked() const { return pick_verifier(workers, memory, request)->verifier; }
  Why why() const { return pick_verifier(workers, memory, request)->why; }
  void ask(size_t tokens) {  // a prompt of so many
    std::vector<TokenId> ids(tokens);
    std::iota(ids.begin(), ids.end(), 0);
    request.prefixes = hash_prefixes(ids);
  }

  RouterConfig settings = config();
  Workers workers{settings};
  PrefixMemory memory;
  LiveRequest request{.submit = slipstream::ask(1), .received = ReceivedTokens(100)};
};

// Subjects that share this stage.
using PrefixAffinity = PlacementTest;

TEST_F(PlacementTest, ARequestGoesToTheLeastLoaded) {
  join(kVerifier).assigned = 2;
  join(kSpare).assigned = 1;
  EXPECT_EQ(picked(), kSpare);
  EXPECT_EQ(why(), Why::load);
}

// One that fails each step ends its requests quickly, so it has the least to do.
TEST_F(PlacementTest, AVerifierWhoseStepFailedComesLastForAWhile) {
  join(kVerifier).assigned = 2;
  join(kSpare, 1);
  workers.step_failed(kSpare, Time(0));
  EXPECT_EQ(picked(), kVerifier);
  workers.find(kVerifier)->assigned = 8;
  EXPECT_EQ(picked(), kSpare) << "no other has room";
  workers.find(kVerifier)->assigned = 2;
  workers.end_rests(kFailedStepRest - std::chrono::milliseconds(1));
  EXPECT_EQ(picked(), kVerifier);
  workers.end_rests(kFailedStepRest);
  EXPECT_EQ(picked(), kSpare);
}

TEST_F(PrefixAffinity, DoesNotLeadToAVerifierWhoseStepFailed) {
  join(kVerifier);
  join(kSpare);
  ask(200);
  memory.remember(request.prefixes, kSpare);
  EXPECT_EQ(picked(), kSpare);
  workers.step_failed(kSpare, Time(0));
  EXPECT_EQ(picked(), kVerifier);
}

TEST_F(PlacementTest, SequencesOfOtherRoutersAreLoadToo) {
  join(kVerifier).assigned = 1;
  KnownWorker& spare = join(kSpare);
  heartbeat(spare, 3);
  EXPECT_EQ(picked(), kVerifier);
}

TEST_F(PlacementTest, OurOwnSequencesAreNotCountedTwice) {
  KnownWorker& spare = join(kSpare);
  spare.assigned = 3;
  heartbeat(spare, 3);
  join(kVerifier).assigned = 4;
  EXPECT_EQ(picked(), kSpare);
}

TEST_F(PlacementTest, SequencesGivenSinceTheHeartbeatAreLoadAtOnce) {
  KnownWorker& spare = join(kSpare);
  heartbeat(spare, 2);
  spare.assigned = 3;
  join(kVerifier).assigned = 4;
  EXPECT_EQ(picked(), kVerifier);
}

TEST_F(PlacementTest, SequencesThatWaitForCacheWeighTwice) {
  heartbeat(join(kVerifier), 3);
  heartbeat(join(kSpare), 2, 2);
  EXPECT_EQ(picked(), kVerifier);
}

TEST_F(PlacementTest, LoadIsAShareOfWhatAVerifierCanTake) {
  join(kVerifier, 4).assigned = 2;
  join(kSpare, 8).assigned = 3;
  EXPECT_EQ(picked(), kSpare);
}

TEST_F(PlacementTest, AFullVerifierGetsNothing) {
  heartbeat(join(kVerifier, 4), 4);
  EXPECT_FALSE(pick_verifier(workers, memory, request));
}

TEST_F(PrefixAffinity, APromptGoesWhereItsPrefixWasComputed) {
  join(kVerifier);
  join(kSpare).assigned = 1;
  ask(100);
  memory.remember(request.prefixes, kSpare);
  EXPECT_EQ(picked(), kSpare);
  EXPECT_EQ(why(), Why::affinity);
}

TEST_F(PrefixAffinity, TheLongestPrefixWins) {
  join(kVerifier);
  join(kSpare);
  ask(200);
  memory.remember(request.prefixes, kSpare);
  memory.remember(std::span(request.prefixes).first(2), kVerifier);
  EXPECT_EQ(picked(), kSpare);
}

TEST_F(PrefixAffinity, EndsWhereTheSlackDoes) {
  join(kVerifier);
  KnownWorker& spare = join(kSpare);
  ask(100);
  memory.remember(request.prefixes, kSpare);
  spare.assigned = kAffinitySlackSequences - 1;
  EXPECT_EQ(picked(), kSpare);
  ++spare.assigned;
  EXPECT_EQ(picked(), kVerifier);
  EXPECT_EQ(why(), Why::load);
}

TEST_F(PrefixAffinity, IsNotWorthItForAShortPrefix) {
  join(kVerifier);
  join(kSpare).assigned = 1;
  ask(kAffinityTokensMin - 1);
  memory.remember(request.prefixes, kSpare);
  EXPECT_EQ(picked(), kVerifier);
}

TEST_F(PrefixAffinity, DoesNotInsistOnAVerifierThatRefused) {
  join(kVerifier);
  join(kSpare);
  ask(100);
  memory.remember(request.prefixes, kSpare);
  request.refused_by = kSpare;
  EXPECT_EQ(picked(), kVerifier);
}

Hello wide(Peer peer) {
  Hello hello = verifier(peer);
  hello.context_max = 200;
  hello.sequences_max = 8;
  return hello;
}

TEST(Affinity, AChatsNextTurnGoesWhereItsLastOneWas) {
  RouterConfig settings = config();
  settings.context_max = 200;
  Router router(settings);
  Stage<Router> stage(router);
  stage.hears(kSpare, wide(kSpare));
  Submit first = ask(1, 64);
  first.prompt.assign(40, 7);
  stage.tell(first);
  const std::vector<TokenId> answer(40, 8);
  stage.hears(kSpare, Tokens{.sequence = {kRouter, 1},
                             .epoch = 1,
                             .ids = answer,
                             .drafted = std::vector<uint8_t>(40),
                             .depths = std::vector<uint8_t>(40),
                             .finish = Finish::stop});
  stage.hears(kVerifier, wide(kVerifier));
  stage.forget();
  Submit second = ask(2, 64);
  second.prompt = first.prompt;
  second.prompt.insert(second.prompt.end(), answer.begin(), answer.end());
  second.prompt.push_back(9);
  stage.tell(second);
  EXPECT_EQ(stage.says<Start>().peer, kSpare) << "the other one has a lower number";
  EXPECT_EQ(router.counters().placed_by_affinity, 1u);
  EXPECT_EQ(router.counters().placed_by_load, 1u);
}

}  // namespace
}  // namespace slipstream
