// A drafter that an operator lets rest: no request is assigned to it, and those that it drafts for
// get others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Peer kOther{0x8000000000000009};
const DrafterRef kRef{.incarnation = kDrafter.id, .endpoint = "tcp://d"},
    kOtherRef{.incarnation = kOther.id, .endpoint = "tcp://o"};

class DrainedDrafter : public RouterTest {
 protected:
  DrainedDrafter() {
    Hello hello = verifier(kVerifier);
    hello.sequences_max = 8;
    stage.hears(kVerifier, hello);
    stage.hears(kDrafter, drafter(kDrafter, kRef.endpoint));
  }
  std::vector<DrafterRef> started(RequestId id) {
    stage.tell(ask(id, 40));
    const Start start = stage.says<Start>().message;
    accept(kVerifier, id, 1);
    return start.drafters;
  }
  void drains(Peer peer, bool drained = true) { stage.tell(SetDrained{.drafter = peer.id, .drained = drained}); }
  bool shown_drained(Peer peer) const {
    const auto same = [&](const WorkerFacts& facts) { return facts.incarnation == peer.id; };
    return std::ranges::find_if(*router.counters().workers, same)->drained;
  }
};

TEST_F(DrainedDrafter, IsTakenFromItsRequestAndGetsNoNewOne) {
  EXPECT_THAT(started(1), ElementsAre(kRef));
  drains(kDrafter);
  EXPECT_THAT(stage.says<Assign>().message.drafters, IsEmpty());
  EXPECT_TRUE(shown_drained(kDrafter));
  EXPECT_EQ(router.counters().drafters, 0U);
  EXPECT_THAT(started(2), IsEmpty());
}

TEST_F(DrainedDrafter, LeavesItsRequestToAnother) {
  EXPECT_THAT(started(1), ElementsAre(kRef));
  stage.hears(kOther, drafter(kOther, kOtherRef.endpoint));
  stage.says<Assign>();
  drains(kDrafter);
  EXPECT_THAT(stage.says<Assign>().message.drafters, ElementsAre(kOtherRef));
}

TEST_F(DrainedDrafter, IsUsedAgainWhenItIsUndrained) {
  drains(kDrafter);
  EXPECT_THAT(started(1), IsEmpty());
  drains(kDrafter, false);
  EXPECT_THAT(stage.says<Assign>().message.drafters, ElementsAre(kRef));
  EXPECT_FALSE(shown_drained(kDrafter));
}

TEST_F(DrainedDrafter, StaysSoWhenItConnectsAnew) {
  drains(kDrafter);
  stage.tell(PeerDown{kDrafter});
  stage.hears(kDrafter, drafter(kDrafter, kRef.endpoint));
  EXPECT_TRUE(shown_drained(kDrafter));
  EXPECT_THAT(started(1), IsEmpty());
}

TEST_F(DrainedDrafter, IsNeverAVerifierNorWhoIsNotHere) {
  drains(kVerifier);
  drains(kOther);
  EXPECT_FALSE(shown_drained(kVerifier));
  stage.hears(kOther, drafter(kOther, kOtherRef.endpoint));
  EXPECT_FALSE(shown_drained(kOther)) << "what was said before it came is forgotten";
}

}  // namespace
}  // namespace slipstream
