#include "common/worker/worker.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

constexpr Peer kRouter{1}, kStranger{7};

// Its effects are those of an actor that has more than a Worker needs.
class WorkerTest : public testing::Test {
 protected:
  using Effect =
      std::variant<slipstream::Run<int>, Connect, Disconnect, WakeAt, To<Hello>, To<WorkerHeartbeat>, To<Leaving>, Note>;

  void joins() {
    worker.on(PeerUp{kRouter}, 0s, effects);
    worker.on(From<Welcome>{kRouter, {.router = 77, .heartbeat_ms = 200}}, 0s, effects);
  }
  template <class E>
  std::vector<E> all() const {
    std::vector<E> found;
    for (const Effect& effect : effects) {
      if (const E* one = std::get_if<E>(&effect)) found.push_back(*one);
    }
    return found;
  }

  Worker worker{hello_of(Role::drafter, {.incarnation = 5, .pid = 9}, {}), {"tcp://a"}};
  std::vector<Effect> effects;
};

TEST_F(WorkerTest, ConnectsToItsRoutersAtTheFirstEventOnly) {
  worker.on(Woke{}, 0s, effects);
  worker.on(Woke{}, 1s, effects);
  ASSERT_EQ(all<Connect>().size(), 1u);
  EXPECT_EQ(all<Connect>()[0].endpoint, "tcp://a");
}

TEST_F(WorkerTest, SaysWhoItIsAndHowMuchItHasToDo) {
  worker.on(PeerUp{kRouter}, 0s, effects);
  worker.send_heartbeats(0s, {}, effects);
  ASSERT_EQ(all<To<Hello>>().size(), 1u);
  EXPECT_EQ(all<To<Hello>>()[0].message.pid, 9u);
  joins();
  worker.computed(500ms);
  worker.send_heartbeats(1s, {.sequences = 3, .waiting = 2, .steps = 4}, effects);
  ASSERT_EQ(all<To<WorkerHeartbeat>>().size(), 1u);
  const WorkerHeartbeat expected{.sequences = 3, .waiting = 2, .steps = 4, .busy = 0.5F};
  EXPECT_EQ(all<To<WorkerHeartbeat>>()[0].message, expected);
}

TEST_F(WorkerTest, DrainsOnce) {
  joins();
  EXPECT_FALSE(worker.counters().draining);
  worker.on(From<Drain>{{}, {"told to stop"}}, 0s, effects);
  worker.on(From<Drain>{{}, {"told again"}}, 0s, effects);
  EXPECT_TRUE(worker.counters().draining);
  ASSERT_EQ(all<To<Leaving>>().size(), 1u);
  EXPECT_EQ(all<To<Leaving>>()[0].message.reason, "told to stop");
}

TEST_F(WorkerTest, TakesOrdersOfItsRoutersAndOfItself) {
  EXPECT_TRUE(worker.takes_orders_of(kRouter));
  EXPECT_TRUE(worker.takes_orders_of(Peer{}));
  EXPECT_FALSE(worker.takes_orders_of(kStranger));
  worker.on(From<Refuse>{kStranger, {"no"}}, 0s, effects);
  EXPECT_EQ(worker.counters().refusals, 0u);
}

TEST_F(WorkerTest, OneAlarmServesTheActorAndTheHeartbeats) {
  worker.set_alarm(std::nullopt, effects);
  EXPECT_TRUE(all<WakeAt>().empty());
  joins();
  worker.send_heartbeats(0s, {}, effects);
  worker.set_alarm(50ms, effects);
  worker.set_alarm(50ms, effects);
  worker.set_alarm(2s, effects);
  ASSERT_EQ(all<WakeAt>().size(), 2u) << "nothing is said again that the driver knows";
  EXPECT_EQ(all<WakeAt>()[0].at, 50ms);
  EXPECT_EQ(all<WakeAt>()[1].at, 200ms) << "the heartbeat";
}

TEST_F(WorkerTest, SetsTheAlarmAnewOnceItHasRung) {
  worker.set_alarm(50ms, effects);
  worker.on(Woke{}, 50ms, effects);
  worker.set_alarm(50ms, effects);
  EXPECT_EQ(all<WakeAt>().size(), 2u);
}

}  // namespace
}  // namespace slipstream
