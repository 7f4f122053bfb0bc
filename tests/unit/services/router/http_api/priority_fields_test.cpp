#include "services/router/http_api/priority_fields.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/router/http_api/chat_request.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

ApiResult<ChatRequest> with(std::string_view fields) {
  return parse_chat_request(fmt::format(R"({{"messages":[{{"role":"user","content":"hi"}}],{}}})", fields),
                            {.names = {"demo"}, .rules = {"coupled"}});
}

TEST(PriorityFields, LeaveAPlainRequestAtZero) {
  const auto request = with(R"("max_tokens":3)");
  EXPECT_EQ(request->priority, 0);
  EXPECT_EQ(request->service_tier, "");
}

TEST(PriorityFields, TakeVllmsNumberAsItIs) {
  EXPECT_EQ(with(R"("priority":-7)")->priority, -7);
  EXPECT_EQ(with(R"("priority":1000)")->priority, 1000);
}

TEST(PriorityFields, HaveABound) {
  const auto refused = with(R"("priority":1001)");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().param, "priority");
  EXPECT_FALSE(with(R"("priority":-1001)"));
  EXPECT_FALSE(with(R"("priority":"high")"));
}

TEST(PriorityFields, TurnAServiceTierIntoAPriority) {
  EXPECT_EQ(with(R"("service_tier":"flex")")->priority, kTierPriority);
  EXPECT_EQ(with(R"("service_tier":"priority")")->priority, -kTierPriority);
  for (const char* tier : {"auto", "default", "scale", "standard_only"}) {
    const auto request = with(fmt::format(R"("service_tier":"{}")", tier));
    EXPECT_EQ(request->priority, 0) << tier;
    EXPECT_EQ(request->service_tier, "default") << tier;
  }
}

TEST(PriorityFields, RefuseAnUnknownTierByName) {
  const auto refused = with(R"("service_tier":"gold")");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().param, "service_tier");
  EXPECT_THAT(refused.error().message, HasSubstr("gold"));
}

TEST(PriorityFields, LetTheNumberCountBesideATier) { EXPECT_EQ(with(R"("service_tier":"flex","priority":5)")->priority, 5); }

TEST(PriorityFields, OfOneThatMayNotGoFirstAreTakenAsUsualWithAWarning) {
  auto request = with(R"("service_tier":"priority")");
  take_no_precedence(*request);
  EXPECT_EQ(request->priority, 0);
  EXPECT_EQ(request->service_tier, "default");
  ASSERT_EQ(request->warnings.size(), 1u);
  EXPECT_THAT(request->warnings[0], HasSubstr("priority 0"));
}

TEST(PriorityFields, MayAlwaysPutARequestBehindOthers) {
  auto request = with(R"("service_tier":"flex")");
  take_no_precedence(*request);
  EXPECT_EQ(request->priority, kTierPriority);
  EXPECT_TRUE(request->warnings.empty());
}

}  // namespace
}  // namespace slipstream
