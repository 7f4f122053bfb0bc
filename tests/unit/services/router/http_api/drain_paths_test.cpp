// Draining a drafter over HTTP: what is posted to the router's actor, and what is refused.
#include "services/router/http_api/paths.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

class DrainPaths : public HttpApiTest {
 protected:
  DrainPaths() {
    workers = std::make_shared<const std::vector<WorkerFacts>>(
        std::vector<WorkerFacts>{{.role = Role::drafter, .incarnation = 0xaf}, {.role = Role::verifier, .incarnation = 0xbf}});
  }
};

TEST(DrainOf, TakesAnIncarnationAsTheLogsWriteIt) {
  EXPECT_EQ(drain_of("/drafters/00000000000000af/drain")->drafter, 0xAFU);
  EXPECT_TRUE(drain_of("/drafters/00000000000000af/drain")->drained);
  EXPECT_FALSE(drain_of("/drafters/00000000000000af/undrain")->drained);
  for (const char* no : {"/drafters", "/drafters/", "/drafters/af/drain", "/drafters/00000000000000af",
                         "/drafters/00000000000000af/", "/drafters/00000000000000af/kill", "/drafters/000000000000-0af/drain",
                         "/drafters/00000000000000ag/drain", "/drafters/000000000000000af/drain", "/drafters//drain"})
    EXPECT_FALSE(drain_of(no)) << no;
}

TEST_F(DrainPaths, TellTheRouterAndAnswerThatItIsUnderWay) {
  const auto drained = post("{}", "/drafters/00000000000000af/drain").get();
  EXPECT_EQ(drained.status, 202);
  EXPECT_EQ(json::parse(drained.body), (json{{"drafter", "00000000000000af"}, {"drained", true}}));
  const auto told = inbox.take<SetDrained>();
  EXPECT_EQ(told.drafter, 0xAFU);
  EXPECT_TRUE(told.drained);
  EXPECT_EQ(post("", "/drafters/00000000000000af/undrain").get().status, 202);
  EXPECT_FALSE(inbox.take<SetDrained>().drained);
}

TEST_F(DrainPaths, KnowTheDraftersThatAreHereAndNobodyElse) {
  for (const char* path : {"/drafters/00000000000000aa/drain", "/drafters/00000000000000bf/drain"}) {
    const auto reply = post("{}", path).get();
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_THAT(reply.body, HasSubstr("unknown_drafter")) << path;
  }
  EXPECT_EQ(post("{}", "/drafters/af/drain").get().status, 404);
  EXPECT_EQ(get("/drafters/00000000000000af/drain").status, 405);
}

TEST_F(DrainPaths, SayThatTheInboxIsFull) {
  inbox.fill();
  EXPECT_EQ(post("{}", "/drafters/00000000000000af/drain").get().status, 429);
}

}  // namespace
}  // namespace slipstream
