// The drafter among its peers: routers, verifiers that fit and that do not, and those that
// misbehave.
#include <gtest/gtest.h>

#include "services/drafter/drafter.h"
#include "services/drafter/verifier_peers.h"
#include "tests/unit/services/drafter/drafter_stage.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;

using DrafterLinks = DrafterStage;
// Subjects that share this stage.
using DrafterDraining = DrafterLinks;

TEST(DrafterBirth, ConnectsToItsRouters) {
  Drafter drafter{drafter_config()};
  Stage<Drafter> stage{drafter};
  EXPECT_EQ(stage.does<Connect>().endpoint, "tcp://127.0.0.1:9");
}

TEST_F(DrafterLinks, IntroducesItselfToARouter) {
  stage.up(kRouter);
  const Hello hello = stage.says<Hello>().message;
  EXPECT_EQ(hello.role, Role::drafter);
  EXPECT_EQ(hello.methods, std::vector<std::string>{"ngram"});
  EXPECT_EQ(hello.draft_endpoint, "tcp://127.0.0.1:7");
  EXPECT_EQ(hello.sequences_max, kSequencesPerDrafterMax);
  EXPECT_EQ(hello.draft_model, "tiny");
}

TEST_F(DrafterLinks, HeartbeatsAsOftenAsTheRouterAsks) {
  stage.up(kRouter);
  stage.hears(kRouter, Welcome{.router = 3, .heartbeat_ms = 200});
  EXPECT_EQ(stage.says<WorkerHeartbeat>().peer, kRouter);
  stage.waits(199ms);
  EXPECT_TRUE(stage.silent<WorkerHeartbeat>());
  stage.waits(1ms);
  EXPECT_FALSE(stage.silent<WorkerHeartbeat>());
}

TEST_F(DrafterLinks, TakesNoOrdersFromAVerifier) {
  stage.up(kRouter);
  stage.says<Hello>();
  for (int i = 0; i < kStrikesMax; ++i) stage.hears(kVerifier, Drain{"hostile"});
  EXPECT_TRUE(stage.silent<Leaving>());
  EXPECT_EQ(drafter.counters().quarantined, 1u);
}

TEST_F(DrafterLinks, ReportsTheShareOfTimeThatItComputed) {
  stage.up(kRouter);
  stage.hears(kRouter, Welcome{.router = 3, .heartbeat_ms = 1000});
  stage.forget();
  stage.hears(kVerifier, first_advance({10}));
  stage.runs<DraftPlan>();
  stage.finishes(Drafts{.trees = {DraftTree()}, .draft_us = 250'000});
  stage.forget();
  stage.waits(1000ms);
  const WorkerHeartbeat load = stage.says<WorkerHeartbeat>().message;
  EXPECT_FLOAT_EQ(load.busy, 0.25F);
  EXPECT_EQ(load.steps, 1u);
  EXPECT_EQ(load.sequences, 1u);
}

TEST_F(DrafterLinks, SaysWhyARouterRefusedIt) {
  stage.up(kRouter);
  stage.hears(kRouter, Refuse{"speak version 2"});
  const Note note = stage.does<Note>();
  EXPECT_NE(note.text.find("speak version 2"), std::string::npos);
  EXPECT_TRUE(note.warning);
}

TEST_F(DrafterLinks, AttachesAVerifierOfTheSameTokens) {
  attach(kOtherVerifier);
  const Attached attached = stage.says<Attached>().message;
  EXPECT_EQ(attached.refusal, "");
  EXPECT_EQ(attached.drafter, 5u);
  EXPECT_EQ(attached.method, "ngram");
  EXPECT_EQ(counters().verifiers, 2u);
}

TEST_F(DrafterLinks, RefusesAVerifierOfAnotherTokenizer) {
  Fingerprint other = kTokens;
  other.tokenizer = 12;
  attach(kOtherVerifier, other);
  EXPECT_NE(stage.says<Attached>().message.refusal.find("tokenizers differ"), std::string::npos);
  EXPECT_TRUE(stage.does<Note>().warning);
  stage.hears(kOtherVerifier, first_advance({10}));
  EXPECT_TRUE(stage.rests());
  EXPECT_EQ(counters().unattached, 1u);
}

TEST_F(DrafterLinks, RefusesAVerifierThatSpeaksOnlyAnotherVersion) {
  stage.hears(kOtherVerifier, Attach{.versions = {.oldest = 2, .newest = 3}, .verifier = 9, .fingerprint = kTokens});
  EXPECT_NE(stage.says<Attached>().message.refusal.find("version 1"), std::string::npos);
}

TEST_F(DrafterLinks, TakesAVerifierBackAfterItsLinkFell) {
  stage.hears(kVerifier, first_advance({10}));
  drafts({});
  stage.down(kVerifier);
  stage.hears(kVerifier, advance({10, 20}, 1, 2));
  EXPECT_EQ(stage.says<Resync>().message.held, 0);
}

TEST_F(DrafterLinks, CountsOnlyVerifiersWhoseLinkIsUp) {
  attach(kOtherVerifier);
  EXPECT_EQ(counters().verifiers, 2u);
  stage.down(kVerifier);
  EXPECT_EQ(counters().verifiers, 1u);
  stage.hears(kVerifier, first_advance({10}));
  EXPECT_EQ(counters().verifiers, 2u) << "it is back";
  stage.down(kVerifier);
  stage.down(kOtherVerifier);
  EXPECT_EQ(counters().verifiers, 0u);
}

TEST_F(DrafterLinks, TellsAVerifierThatItDoesNotKnowToAttachFirst) {
  stage.hears(kOtherVerifier, first_advance({10}));
  const Attached answer = stage.says<Attached>().message;
  EXPECT_TRUE(answer.attach_first);
  EXPECT_NE(answer.refusal, "");
  EXPECT_EQ(counters().advances, 0u);
  EXPECT_EQ(counters().unattached, 1u);
}

TEST_F(DrafterLinks, IgnoresAPeerAfterItsThirdStrike) {
  stage.hears(kVerifier, first_advance({10}));
  drafts({});
  for (int i = 0; i < kStrikesMax; ++i) stage.garbage(kVerifier);
  EXPECT_EQ(stage.does<Disconnect>().peer, kVerifier);
  EXPECT_EQ(counters().live, 0u);
  EXPECT_EQ(counters().quarantined, 1u);
  stage.forget();
  attach(kVerifier);
  EXPECT_TRUE(stage.silent<Attached>());
}

TEST_F(DrafterLinks, TakesTokensOutsideTheVocabularyForAStrike) {
  for (int i = 0; i < kStrikesMax; ++i) stage.hears(kVerifier, first_advance({100}));
  EXPECT_EQ(counters().invalid, 3u);
  EXPECT_EQ(counters().quarantined, 1u);
  EXPECT_TRUE(stage.rests());
}

TEST_F(DrafterLinks, TakesAnEndlessSequenceForAStrike) {
  Advance message = first_advance({10});
  message.fence.base_length = kContextTokensMax;
  stage.hears(kVerifier, message);
  EXPECT_EQ(counters().invalid, 1u);
}

TEST_F(DrafterDraining, TellsEveryPeerThatTheDrafterLeaves) {
  stage.up(kRouter);
  stage.hears(kVerifier, first_advance({10}));
  drafts({});
  stage.forget();
  stage.hears(kRouter, Drain{"a new release"});
  EXPECT_EQ(stage.says<Leaving>().message.reason, "a new release");
  stage.hears(kVerifier, advance({10, 20}, 1, 2));
  EXPECT_EQ(stage.says<Tree>().message.no_nodes, NoNodes::leaving);
  EXPECT_EQ(counters().live, 0u);
  attach(kOtherVerifier);
  EXPECT_NE(stage.says<Attached>().message.refusal, "");
}

TEST_F(DrafterLinks, ForgetsThePeerSilentLongestForANewOne) {
  for (uint64_t i = 0; i < kVerifierPeersMax; ++i) {
    stage.waits(1us);
    attach(Peer{0x8000'0000'0001'0000 + i});
  }
  EXPECT_EQ(counters().verifiers, kVerifierPeersMax);
  stage.hears(kVerifier, first_advance({10}));
  EXPECT_EQ(counters().unattached, 1u);
}

TEST_F(DrafterLinks, CountsWhatItDoesNotKnow) {
  stage.hears(kVerifier, Unknown{99});
  EXPECT_EQ(counters().unknown_tags, 1u);
}

}  // namespace
}  // namespace slipstream
