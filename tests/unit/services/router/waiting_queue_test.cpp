#include "services/router/waiting_queue.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

constexpr TenantId kAlice = 10, kBob = 11, kCarol = 12;

class WaitingQueueTest : public testing::Test {
 protected:
  std::vector<RequestId> order() const {
    std::vector<RequestId> ids;
    for (size_t place = 0; place < queue.size(); ++place) ids.push_back(queue[place]);
    return ids;
  }
  RequestId serve() {
    const RequestId first = queue[0];
    queue.serve(first);
    return first;
  }
  WaitingQueue queue;
};

TEST_F(WaitingQueueTest, ServesEqualsInTheOrderOfArrival) {
  for (RequestId id : {1, 2, 3}) queue.add(id, 0, kNoTenant);
  EXPECT_THAT(order(), ElementsAre(1, 2, 3));
}

TEST_F(WaitingQueueTest, ServesLowerNumbersFirst) {
  queue.add(1, 0, kAlice);
  queue.add(2, 100, kAlice);
  queue.add(3, -100, kBob);
  queue.add(4, 0, kAlice);
  EXPECT_THAT(order(), ElementsAre(3, 1, 4, 2));
}

TEST_F(WaitingQueueTest, ServesWhatLostItsVerifierBeforeAllOthers) {
  queue.add(1, -1000, kAlice);
  queue.add_front(2);
  queue.add_front(3);
  queue.add(4, -1000, kBob);
  EXPECT_THAT(order(), ElementsAre(3, 2, 1, 4));
}

TEST_F(WaitingQueueTest, GivesEachTenantItsTurnHoweverManyRequestsOneOfThemSends) {
  for (RequestId id : {1, 2, 3, 4}) queue.add(id, 0, kAlice);
  queue.add(5, 0, kBob);
  queue.add(6, 0, kCarol);
  queue.add(7, 0, kBob);
  EXPECT_THAT(order(), ElementsAre(1, 5, 6, 2, 7, 3, 4));
}

// Each new request of hers begins behind one of the other's, or it would never get a turn.
TEST_F(WaitingQueueTest, LetsNoTenantOvertakeForEverWithOneRequestAtATime) {
  for (RequestId id = 1; id <= 10; ++id) queue.add(id, 0, kAlice);
  queue.add(100, 0, kBob);
  std::vector<RequestId> served;
  for (RequestId next = 101; served.size() < 8; ++next) {
    served.push_back(serve());
    if (served.back() >= 100) queue.add(next, 0, kBob);
  }
  EXPECT_EQ(std::ranges::count_if(served, [](RequestId id) { return id < 100; }), 4);
}

TEST_F(WaitingQueueTest, TakesTurnsOnlyAmongEqualPriorities) {
  queue.add(1, 0, kAlice);
  queue.add(2, 0, kAlice);
  queue.add(3, 100, kBob);
  EXPECT_THAT(order(), ElementsAre(1, 2, 3));
}

TEST_F(WaitingQueueTest, SaysHowManyGoBeforeANewRequest) {
  for (RequestId id : {1, 2, 3}) queue.add(id, 0, kAlice);
  queue.add(4, 100, kAlice);
  EXPECT_EQ(queue.ahead_of(-1, kBob), 0u);
  EXPECT_EQ(queue.ahead_of(0, kBob), 1u);
  EXPECT_EQ(queue.ahead_of(0, kAlice), 3u);
  EXPECT_EQ(queue.ahead_of(100, kAlice), 4u);
  EXPECT_EQ(queue.ahead_of(101, kBob), 4u);
}

TEST_F(WaitingQueueTest, ForgetsWhatIsServedOrRemoved) {
  for (RequestId id : {1, 2, 3}) queue.add(id, 0, kAlice);
  queue.remove(2);
  queue.serve(1);
  queue.remove(1);
  EXPECT_THAT(order(), ElementsAre(3));
}

TEST_F(WaitingQueueTest, BeginsItsRoundsAnewWhenNothingWaits) {
  for (RequestId id : {1, 2, 3}) queue.add(id, 0, kAlice);
  for (int i = 0; i < 3; ++i) serve();
  queue.add(4, 0, kAlice);
  queue.add(5, 0, kAlice);
  queue.add(6, 0, kBob);
  EXPECT_THAT(order(), ElementsAre(4, 6, 5));
}

}  // namespace
}  // namespace slipstream
