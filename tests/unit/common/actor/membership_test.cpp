#include "common/actor/membership.h"

#include <deque>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Peer kFirst{1}, kSecond{2};

class MembershipTest : public testing::Test {
 protected:
  using Effect = std::variant<Connect, To<Hello>, To<WorkerHeartbeat>, To<Leaving>, Note>;

  void welcome(Peer peer, Incarnation router) {
    membership.take(From<Welcome>{peer, {.router = router, .heartbeat_ms = 200}}, now, effects);
  }
  void refuse(Peer peer) { membership.take(From<Refuse>{peer, {"other weights"}}, effects); }
  // Time passes. When, in ms from now, each message of this kind was sent to that router.
  template <class M>
  std::vector<int64_t> sent(Peer peer, Time duration) {
    std::vector<int64_t> when;
    const Time begin = now;
    for (const Time end = now + duration; now < end; now += 50ms) {
      effects.clear();
      membership.keep(now, {}, effects);
      for (const Effect& effect : effects) {
        const auto* to = std::get_if<To<M>>(&effect);
        if (to != nullptr && to->peer == peer) when.push_back((now - begin) / 1ms);
      }
    }
    return when;
  }
  Note newest_note() const {
    const auto note = [](const Effect& effect) { return std::holds_alternative<Note>(effect); };
    const auto newest = std::ranges::find_if(effects.rbegin(), effects.rend(), note);
    return newest == effects.rend() ? Note{} : std::get<Note>(*newest);
  }
  std::string noted() const { return newest_note().text; }
  bool warned() const { return newest_note().warning; }

  Membership membership{{.incarnation = 5}, {"tcp://a", "tcp://b"}};
  std::deque<Effect> effects;
  Time now{0};
};

TEST_F(MembershipTest, RepeatsAnUnansweredHelloAtGrowingGaps) {
  membership.up(kFirst, now);
  EXPECT_THAT(sent<Hello>(kFirst, 16s), ElementsAre(0, 500, 1500, 3500, 7500, 11500, 15500));
}

TEST_F(MembershipTest, GoesOnAskingARouterThatRefuses) {
  membership.up(kFirst, now);
  sent<Hello>(kFirst, 20s);
  refuse(kFirst);
  EXPECT_THAT(noted(), HasSubstr("other weights"));
  EXPECT_EQ(sent<Hello>(kFirst, 8s).size(), 2u);
}

TEST_F(MembershipTest, WarnsOfARefusalOnceButNotOfBeingForgotten) {
  membership.up(kFirst, now);
  sent<Hello>(kFirst, 50ms);
  refuse(kFirst);
  EXPECT_THAT(noted(), AllOf(HasSubstr("tcp://a"), HasSubstr("asks again"), HasSubstr("other weights")));
  EXPECT_TRUE(warned());
  sent<Hello>(kFirst, 4s);
  refuse(kFirst);
  EXPECT_EQ(noted(), "") << "the same again";
  welcome(kFirst, 77);
  refuse(kFirst);
  EXPECT_THAT(noted(), HasSubstr("other weights"));
  EXPECT_FALSE(warned());
}

TEST_F(MembershipTest, SaysHelloAtOnceToARouterThatComesBack) {
  membership.up(kFirst, now);
  sent<Hello>(kFirst, 20s);
  membership.down(kFirst, effects);
  membership.up(kFirst, now);
  EXPECT_THAT(sent<Hello>(kFirst, 600ms), ElementsAre(0, 500));
}

TEST_F(MembershipTest, ARouterThatHasForgottenItGetsItsHelloSoon) {
  membership.up(kFirst, now);
  welcome(kFirst, 77);
  sent<WorkerHeartbeat>(kFirst, 10s);
  refuse(kFirst);  // "say Hello again"; also what a router says whose former life's Welcome was believed
  EXPECT_THAT(sent<Hello>(kFirst, 400ms), ElementsAre(testing::Le(200)));
}

TEST_F(MembershipTest, SaysThatItLeavesUntilItIsGone) {
  membership.up(kFirst, now);
  welcome(kFirst, 77);
  membership.leave("a new release", effects);
  const auto again = sent<Leaving>(kFirst, 10s);
  EXPECT_THAT(again, ElementsAre(400, 1200, 2800, 6000, 9200));
}

TEST_F(MembershipTest, WorksForOneOfTwoRoutersOfOneIdentityAndSaysSo) {
  membership.up(kFirst, now);
  membership.up(kSecond, now);
  welcome(kFirst, 77);
  welcome(kSecond, 77);
  EXPECT_THAT(noted(), AllOf(HasSubstr("tcp://a"), HasSubstr("tcp://b"), HasSubstr("one identity")));
  EXPECT_TRUE(std::ranges::any_of(effects, [](const Effect& effect) {
    const auto* leaving = std::get_if<To<Leaving>>(&effect);
    return leaving != nullptr && leaving->peer == kSecond;
  })) << "the other one need not wait";
  EXPECT_THAT(sent<WorkerHeartbeat>(kSecond, 2s), ElementsAre());
  membership.take(From<RouterHeartbeat>{kFirst, {77}}, now);
  welcome(kSecond, 77);
  EXPECT_EQ(sent<WorkerHeartbeat>(kFirst, 2s).size(), 10u);
  membership.down(kFirst, effects);
  welcome(kSecond, 77);
  EXPECT_EQ(sent<WorkerHeartbeat>(kSecond, 2s).size(), 10u) << "now it is the only one";
}

// Named by two addresses: the router listens to the newest connection of a process only.
TEST_F(MembershipTest, WorksOverTheSecondLinkOfOneRouterOnceTheFirstIsSilent) {
  membership.up(kFirst, now);
  membership.up(kSecond, now);
  welcome(kFirst, 77);
  welcome(kSecond, 77);
  sent<Hello>(kSecond, 3s);
  welcome(kSecond, 77);
  EXPECT_EQ(sent<WorkerHeartbeat>(kSecond, 2s).size(), 10u);
  EXPECT_THAT(sent<WorkerHeartbeat>(kFirst, 2s), ElementsAre());
}

TEST_F(MembershipTest, WorksForTwoRoutersOfTwoIdentities) {
  membership.up(kFirst, now);
  membership.up(kSecond, now);
  welcome(kFirst, 77);
  welcome(kSecond, 78);
  EXPECT_EQ(sent<WorkerHeartbeat>(kSecond, 2s).size(), 10u);
}

}  // namespace
}  // namespace slipstream
