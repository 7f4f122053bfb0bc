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

// Copies of one process.
class TwinRouters : public MembershipTest {
 protected:
  TwinRouters() {
    membership.up(kFirst, now);
    membership.up(kSecond, now);
  }
  // Time passes while these are heard. What is sent meanwhile is kept.
  void live(Time duration, std::initializer_list<Peer> heard) {
    for (const Time end = now + duration; now < end; now += 50ms) {
      for (Peer peer : heard) membership.take(From<RouterHeartbeat>{peer, {kTwins}}, now);
      membership.keep(now, {}, effects);
    }
  }
  void welcome_twin(Peer peer) {
    welcome(peer, kTwins);
    membership.keep(now, {}, effects);
  }
  template <class M>
  size_t count(Peer peer) const {
    return static_cast<size_t>(std::ranges::count_if(effects, [&](const Effect& effect) {
      const auto* to = std::get_if<To<M>>(&effect);
      return to != nullptr && to->peer == peer;
    }));
  }
  size_t warnings() const {
    return static_cast<size_t>(std::ranges::count_if(effects, [](const Effect& effect) {
      const auto* note = std::get_if<Note>(&effect);
      return note != nullptr && note->warning;
    }));
  }
  bool works_for(Peer peer) const { return membership.why_aside(peer).empty(); }

  static constexpr Incarnation kTwins = 77;
};

TEST_F(TwinRouters, TheFirstByAddressIsWorkedForWhoeverAnswersFirst) {
  welcome_twin(kFirst);
  welcome_twin(kSecond);
  EXPECT_TRUE(works_for(kFirst));
  EXPECT_FALSE(works_for(kSecond));

  Membership other({.incarnation = 6}, {"tcp://b", "tcp://a"});  // named, and answering, the other way round
  for (Peer peer : {kFirst, kSecond}) other.up(peer, now);
  for (Peer peer : {kFirst, kSecond}) other.take(From<Welcome>{peer, {.router = kTwins, .heartbeat_ms = 200}}, now, effects);
  other.keep(now, {}, effects);
  EXPECT_EQ(other.why_aside(kSecond), "") << "tcp://a";
  EXPECT_NE(other.why_aside(kFirst), "") << "tcp://b";
}

TEST_F(TwinRouters, TheOtherHearsWhyAndTheLogHasItOnce) {
  welcome_twin(kFirst);
  welcome_twin(kSecond);
  EXPECT_THAT(noted(), AllOf(HasSubstr("tcp://a and tcp://b have one identity"), HasSubstr("restart one")));
  EXPECT_EQ(count<Leaving>(kSecond), 1u);
  effects.clear();
  live(60s, {kFirst, kSecond});
  EXPECT_EQ(warnings(), 0u);
  EXPECT_THAT(count<Leaving>(kSecond), AllOf(testing::Ge(15u), testing::Le(25u))) << "at growing gaps: the first may be lost";
  EXPECT_EQ(count<WorkerHeartbeat>(kSecond), 299u) << "each 200 ms after the first, so that it is not called silent";
  EXPECT_EQ(count<Hello>(kSecond), 0u) << "which would take the Leaving back";
  EXPECT_TRUE(membership.welcome());
}

TEST_F(TwinRouters, TheOtherIsWorkedForOnceTheFirstIsGone) {
  welcome_twin(kFirst);
  welcome_twin(kSecond);
  membership.down(kFirst, effects);
  effects.clear();
  live(50ms, {kSecond});
  EXPECT_EQ(count<Hello>(kSecond), 1u);
  welcome_twin(kSecond);
  EXPECT_TRUE(works_for(kSecond));
  EXPECT_THAT(noted(), HasSubstr("joined the router at tcp://b"));
}

TEST_F(TwinRouters, TheOtherIsWorkedForWhileTheFirstIsSilentAndNoLonger) {
  welcome_twin(kFirst);
  welcome_twin(kSecond);
  live(2s, {kSecond});
  effects.clear();
  live(100ms, {kSecond});
  EXPECT_GE(count<Hello>(kSecond), 1u);
  welcome_twin(kSecond);
  EXPECT_TRUE(works_for(kSecond));
  effects.clear();
  live(20s, {kSecond});
  EXPECT_EQ(count<WorkerHeartbeat>(kFirst), 0u);
  EXPECT_GE(count<Hello>(kFirst), 4u) << "it may come back";
  EXPECT_EQ(count<Leaving>(kSecond), 0u);
  welcome_twin(kFirst);
  EXPECT_TRUE(works_for(kFirst));
  EXPECT_FALSE(works_for(kSecond));
  EXPECT_EQ(count<Leaving>(kSecond), 1u);
  EXPECT_EQ(warnings(), 0u) << "it was said";
}

// Named by two addresses: the router listens to the newest connection of a process only.
TEST_F(TwinRouters, OneRouterByTwoAddressesIsWorkedForOverTheLinkItListensTo) {
  welcome_twin(kFirst);
  welcome_twin(kSecond);
  live(2100ms, {kSecond});
  welcome(kSecond, kTwins);
  EXPECT_EQ(sent<WorkerHeartbeat>(kSecond, 2s).size(), 10u);
  EXPECT_TRUE(works_for(kSecond));
  EXPECT_THAT(sent<WorkerHeartbeat>(kFirst, 2s), ElementsAre());
}

TEST_F(TwinRouters, OneThatIsGivenUpForItsTwinIsNoLongerAsideOnceItHasAnotherIdentity) {
  welcome_twin(kFirst);
  welcome_twin(kSecond);
  membership.down(kSecond, effects);
  membership.up(kSecond, now);
  welcome(kSecond, kTwins + 1);
  membership.keep(now, {}, effects);
  EXPECT_TRUE(works_for(kFirst));
  EXPECT_TRUE(works_for(kSecond));
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
