#include "common/worker/membership.h"

#include <algorithm>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Peer kFirst{1}, kSecond{2};

class MembershipTest : public testing::Test {
 protected:
  using Effect = WorkerEffect;

  void welcome(Peer peer, Incarnation router) {
    membership.welcomed(From<Welcome>{peer, {.router = router, .heartbeat_ms = 200}}, now, effects);
  }
  void refuse(Peer peer) { membership.refused(From<Refuse>{peer, {"other weights"}}, effects); }
  // Time passes. When, in ms from now, each message of this kind was sent to that router.
  template <class M>
  std::vector<int64_t> sent(Peer peer, Time duration) {
    std::vector<int64_t> when;
    const Time begin = now;
    for (const Time end = now + duration; now < end; now += 50ms) {
      effects.clear();
      membership.send_due(now, {}, effects);
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
  std::vector<Effect> effects;
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

// Two links that lead to one incarnation: one router by two addresses, or copies of one process.
class DuplicateRouter : public MembershipTest {
 protected:
  DuplicateRouter() {
    for (Peer peer : {kFirst, kSecond}) {
      membership.up(peer, now);
      welcome(peer, kRouter);
    }
  }
  // Time passes while the router is heard on these links. The effects are kept.
  void lives(Time duration, std::initializer_list<Peer> heard) {
    for (const Time end = now + duration; now < end; now += 50ms) {
      for (Peer peer : heard) membership.heard(From<RouterHeartbeat>{peer, {kRouter}}, now);
      membership.send_due(now, {}, effects);
    }
  }
  template <class E>
  size_t count(Peer peer) const {
    return static_cast<size_t>(std::ranges::count_if(effects, [&](const Effect& effect) {
      const auto* e = std::get_if<E>(&effect);
      return e != nullptr && e->peer == peer;
    }));
  }

  static constexpr Incarnation kRouter = 77;
};

TEST_F(DuplicateRouter, TheSecondLinkIsClosedCountedAndToldOnce) {
  EXPECT_EQ(count<Disconnect>(kSecond), 1u);
  EXPECT_EQ(count<Disconnect>(kFirst), 0u);
  EXPECT_EQ(membership.duplicates(), 1u);
  EXPECT_THAT(noted(), AllOf(HasSubstr("tcp://a and tcp://b are one"), HasSubstr("restart one")));
  EXPECT_TRUE(warned());
  effects.clear();
  lives(60s, {kFirst});
  EXPECT_EQ(count<Connect>(kSecond) + count<To<Hello>>(kSecond) + count<To<WorkerHeartbeat>>(kSecond), 0u);
  EXPECT_GT(count<To<WorkerHeartbeat>>(kFirst), 290u);
  EXPECT_EQ(noted(), "");
  EXPECT_TRUE(membership.welcome());
}

TEST_F(DuplicateRouter, TheSecondLinkIsOpenedAgainOnceTheFirstIsDown) {
  lives(1s, {kFirst});
  membership.down(kFirst, effects);
  effects.clear();
  lives(2s, {});
  EXPECT_EQ(count<Connect>(kSecond), 1u);
  membership.up(kSecond, now);
  welcome(kSecond, kRouter);
  EXPECT_TRUE(membership.welcome());
  EXPECT_EQ(count<Disconnect>(kSecond), 0u);
}

// A router listens to the newest connection of a process only, so the first link of one that has
// two addresses falls silent.
TEST_F(DuplicateRouter, AFirstLinkThatIsSilentGivesWayToTheSecond) {
  effects.clear();
  lives(4100ms, {});
  EXPECT_EQ(count<Connect>(kSecond), 1u);
  membership.up(kSecond, now);
  welcome(kSecond, kRouter);
  EXPECT_EQ(count<Disconnect>(kFirst), 1u);
  EXPECT_EQ(membership.duplicates(), 2u);
  effects.clear();
  lives(20s, {kSecond});
  EXPECT_EQ(count<Connect>(kFirst), 0u);
  EXPECT_EQ(count<To<WorkerHeartbeat>>(kSecond), 100u);
}

TEST_F(DuplicateRouter, ARouterThatComesBackOnItsOwnLinkIsWelcome) {
  membership.down(kFirst, effects);
  effects.clear();
  membership.up(kFirst, now);
  welcome(kFirst, kRouter);
  EXPECT_EQ(count<Disconnect>(kFirst), 0u);
  EXPECT_TRUE(membership.welcome());
}

// Routers that a name stands for. The test's own two, peers 1 and 2, are not of the name.
class NamedRouter : public MembershipTest {
 protected:
  static constexpr Peer kThird{3}, kFourth{4};
  void named(const std::vector<std::string>& endpoints) {
    effects.clear();
    membership.named(endpoints, effects);
    membership.send_due(now, {}, effects);
  }
  std::vector<Peer> connected() const {
    std::vector<Peer> peers;
    for (const Effect& effect : effects) {
      if (const auto* connect = std::get_if<Connect>(&effect)) peers.push_back(connect->peer);
    }
    return peers;
  }
  bool forgets(Peer peer) const { return !membership.owns(peer); }
};

TEST_F(NamedRouter, EachNewAddressGetsALinkOfItsOwn) {
  named({"tcp://c", "tcp://a"});
  EXPECT_THAT(connected(), ElementsAre(kThird));
  named({"tcp://c", "tcp://d"});
  EXPECT_THAT(connected(), ElementsAre(kFourth));
  EXPECT_TRUE(membership.owns(kFourth));
  EXPECT_FALSE(membership.owns(Peer{5}));
}

TEST_F(NamedRouter, ALinkWhoseAddressIsGoneStaysUntilItIsDown) {
  named({"tcp://c"});
  membership.up(kThird, now);
  welcome(kThird, 77);
  named({});
  EXPECT_FALSE(forgets(kThird));
  EXPECT_EQ(sent<WorkerHeartbeat>(kThird, 2s).size(), 9u) << "the first of the ten went with named()";
  membership.down(kThird, effects);
  EXPECT_THAT(membership.next(), testing::Optional(testing::Le(now)));
  membership.send_due(now, {}, effects);
  EXPECT_TRUE(forgets(kThird));
  EXPECT_EQ(membership.next(), std::nullopt);
}

TEST_F(NamedRouter, AnAddressThatComesBackIsAnotherLink) {
  named({"tcp://c"});
  named({});
  EXPECT_TRUE(forgets(kThird));
  named({"tcp://c"});
  EXPECT_THAT(connected(), ElementsAre(kFourth));
}

TEST_F(NamedRouter, OneThatIsListedIsNeverForgotten) {
  named({"tcp://a"});
  named({});
  EXPECT_FALSE(forgets(kFirst));
}

TEST_F(NamedRouter, MoreThanTheLimitAreLeftOutAndToldOnce) {
  std::vector<std::string> many;
  for (size_t i = 0; i < kRouterLinksMax + 9; ++i) many.push_back("tcp://r" + std::to_string(i));
  named(many);
  EXPECT_EQ(connected().size(), kRouterLinksMax - 2);
  EXPECT_THAT(noted(), HasSubstr("the most that a worker has"));
  named(many);
  EXPECT_EQ(noted(), "");
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
