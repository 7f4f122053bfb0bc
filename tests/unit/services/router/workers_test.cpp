// The router welcomes the workers that fit and refuses the others, and names both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::Not;

using WorkerMembership = RouterTest;

TEST_F(WorkerMembership, WelcomesAVerifierAndSaysHowOftenToHeartbeat) {
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_EQ(stage.says<Welcome>().message, (Welcome{.router = kRouter, .heartbeat_ms = 200}));
  EXPECT_EQ(router.counters().verifiers, 1);
}

TEST_F(WorkerMembership, RefusesAWorkerOfAnotherTokenizer) {
  Hello hello = verifier(kVerifier);
  hello.fingerprint.tokenizer = 0xDEF;
  stage.hears(kVerifier, hello);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("tokenizer"));
  EXPECT_EQ(router.counters().verifiers, 0);
  EXPECT_EQ(router.counters().workers_refused, 1);
}

TEST_F(WorkerMembership, RefusesAWorkerWhoseKeyIsAnothers) {
  stage.tell(PeerUp{kVerifier, "drafter-2"});
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("the key drafter-2 is not that of a verifier"));
  stage.tell(PeerUp{kDrafter, "drafter"});
  stage.hears(kDrafter, drafter(kDrafter, "tcp://127.0.0.1:1#drafter-2"));
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("does not name the key drafter"));
  stage.hears(kDrafter, drafter(kDrafter, "tcp://127.0.0.1:1#drafter"));
  stage.says<Welcome>();
  EXPECT_EQ(router.counters().workers_refused, 2);
}

TEST_F(WorkerMembership, RefusesAnotherProtocolVersion) {
  Hello hello = verifier(kVerifier);
  hello.versions = {.oldest = kProtocolVersion + 1, .newest = kProtocolVersion + 2};
  stage.hears(kVerifier, hello);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("protocol version"));
}

TEST_F(WorkerMembership, RefusesADrafterUnderANameOfAVerifiersOwn) {
  Hello hello = drafter(kDrafter, "tcp://d");
  hello.methods = {"resident-ngram"};
  stage.hears(kDrafter, hello);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("a name under which verifiers count their own drafts"));
  EXPECT_EQ(router.counters().drafters, 0);
}

TEST_F(WorkerMembership, RefusesANameThatWouldForgeALineOfItsPage) {
  Hello hello = drafter(kDrafter, "tcp://d");
  hello.draft_model = "tiny\n  drafter  0000000000000000  ready";
  stage.hears(kDrafter, hello);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("a line break"));
  EXPECT_THAT(router.counters().refused_now->front().reason, Not(HasSubstr("\n")));
}

TEST_F(WorkerMembership, ShowsWhyAWorkerLeavesOnOneLine) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.hears(kVerifier, Leaving{"stopped\n  verifier  ready"});
  ASSERT_EQ(router.counters().workers->size(), 1u);
  EXPECT_EQ(router.counters().workers->front().why_leaving, "stopped\\x0a  verifier  ready");
}

TEST_F(WorkerMembership, CountsAWorkerThatLeftInOrderAsNoneThatWasLost) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.hears(kSpare, verifier(kSpare));
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  for (const Peer peer : {kVerifier, kDrafter}) {
    stage.hears(peer, Leaving{"the pod is deleted"});
    stage.down(peer);
  }
  EXPECT_EQ(router.counters().workers_lost, 0u);
  stage.down(kSpare);
  EXPECT_EQ(router.counters().workers_lost, 1u);
}

TEST_F(WorkerMembership, CountsAVerifierThatLeavesBeforeItsRequestsHaveEndedAsLost) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  stage.hears(kVerifier, Leaving{"the pod is deleted"});
  stage.down(kVerifier);
  EXPECT_EQ(router.counters().workers_lost, 1u);
}

TEST_F(WorkerMembership, NamesRefusedWorkersWhileTheyAreConnectedEachOnce) {
  stage.hears(kVerifier, verifier(kVerifier));
  Hello other = verifier(kSpare);
  other.fingerprint.weights = 0x22;
  other.pid = 4711;
  stage.hears(kSpare, other);
  stage.hears(kSpare, other);
  EXPECT_EQ(router.counters().workers_refused, 2);
  ASSERT_EQ(router.counters().refused_now->size(), 1u);
  const RefusedFacts refused = router.counters().refused_now->front();
  EXPECT_EQ(refused.incarnation, other.incarnation);
  EXPECT_EQ(refused.pid, 4711u);
  EXPECT_THAT(refused.reason, HasSubstr("other weights"));
  stage.down(kSpare);
  EXPECT_TRUE(router.counters().refused_now->empty());
}

TEST_F(WorkerMembership, NamesABoundedNumberOfRefusedWorkers) {
  for (uint64_t i = 0; i < 2 * kRefusedNamedMax; ++i) {
    const Peer peer{0x8000000000000100 + i};
    Hello hello = drafter(peer, "tcp://d");
    hello.fingerprint.tokenizer = 0xDEF;
    stage.hears(peer, hello);
  }
  EXPECT_EQ(router.counters().refused_now->size(), kRefusedNamedMax);
  EXPECT_EQ(router.counters().refused_unnamed, kRefusedNamedMax);
}

TEST_F(WorkerMembership, RefusesASecondVerifierWithOtherWeights) {
  stage.hears(kVerifier, verifier(kVerifier));
  Hello other = verifier(kSpare);
  other.fingerprint.weights = 0x22;
  stage.hears(kSpare, other);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("other weights or config"));
}

TEST_F(WorkerMembership, LetsNoOtherWeightsInWhileAVerifierIsSilent) {
  stage.hears(kVerifier, verifier(kVerifier));
  lives(milliseconds(2500), {});
  stage.forget();
  Hello other = verifier(kSpare);
  other.fingerprint.weights = 0x22;
  stage.hears(kSpare, other);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("other weights or config")) << "the first may come back";
}

TEST_F(WorkerMembership, AsksAWorkerThatItHasForgottenForItsHello) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.waits(milliseconds(61'000));
  EXPECT_EQ(router.counters().verifiers, 0);
  stage.forget();
  stage.hears(kVerifier, WorkerHeartbeat{});
  EXPECT_EQ(stage.says<Refuse>().peer, kVerifier);
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_EQ(stage.says<Welcome>().peer, kVerifier);
}

}  // namespace
}  // namespace slipstream
