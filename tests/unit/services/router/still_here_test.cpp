// A client learns that its request is alive while there is nothing to deliver.
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

class StillHereTest : public RouterTest {
 protected:
  explicit StillHereTest(RouterConfig given = config()) : RouterTest(std::move(given)) {}
  int signs() {  // that were given, and forgets them
    int count = 0;
    for (; !stage.idle<StillHere>(); ++count) stage.does<StillHere>();
    return count;
  }
};

TEST_F(StillHereTest, IsSaidWhenAVerifierAcceptsAndThenEveryFewSecondsWithoutATokenOnly) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  EXPECT_EQ(signs(), 0);
  accept(kVerifier, 1, 1);
  EXPECT_EQ(signs(), 1);
  accept(kVerifier, 1, 1);
  EXPECT_EQ(signs(), 0) << "an Accepted that is repeated says nothing new";
  lives(milliseconds(16'000), {kVerifier});
  EXPECT_EQ(signs(), 3) << "a long prompt is computed";
  for (int32_t i = 0; i < 5; ++i) {
    tokens(kVerifier, 1, 1, i, {20});
    lives(milliseconds(4000), {kVerifier});
  }
  EXPECT_EQ(signs(), 0) << "tokens are signs themselves";
}

TEST_F(StillHereTest, IsSaidOfARequestThatMovesToAnotherVerifier) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.tell(PeerDown{kVerifier});
  lives(milliseconds(6000), {});
  EXPECT_EQ(signs(), 1);
}

TEST_F(StillHereTest, IsNotSaidBeforeARequestCanNoLongerFailForWantOfAVerifier) {
  stage.tell(ask(1));
  lives(milliseconds(11'000), {});
  EXPECT_EQ(signs(), 0);
  EXPECT_EQ(stage.does<Failure>().status, 503) << "a status, as nothing was sent";
}

// A router that bounds no wait: else the request would be refused, or given up before.
struct StillHereWithoutABound : StillHereTest {
  static RouterConfig unbounded() {
    RouterConfig given = config();
    given.queue_wait_ms = 0;
    return given;
  }
  StillHereWithoutABound() : StillHereTest(unbounded()) {}
};

TEST_F(StillHereWithoutABound, IsSaidOfARequestThatWaitsLongForRoom) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (RequestId id = 1; id <= 3; ++id) stage.tell(ask(id));
  for (RequestId id = 1; id <= 2; ++id) accept(kVerifier, id, 1);
  for (int i = 0; i < 4; ++i) {
    lives(milliseconds(4000), {kVerifier});
    for (RequestId id = 1; id <= 2; ++id) tokens(kVerifier, id, 1, i, {20});
  }
  EXPECT_EQ(signs(), 3) << "two that were accepted, and the third after 15 s";
}

}  // namespace
}  // namespace slipstream
