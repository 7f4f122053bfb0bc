#include "services/router/http_api/key_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "services/router/http_api/api_keys.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr TenantId kAlice = 5, kBob = 6;
constexpr KeyUse::Clock::time_point kNow{};

TEST(KeyUse, LetsSoManyRequestsAMinutePass) {
  KeyUse use;
  const KeyLimits limits{.per_minute = 2};
  EXPECT_TRUE(use.admit(kAlice, limits, kNow));
  EXPECT_TRUE(use.admit(kAlice, limits, kNow));
  const auto third = use.admit(kAlice, limits, kNow);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().status, 429);
  EXPECT_EQ(third.error().code, "rate_limit_exceeded");
  EXPECT_EQ(third.error().retry_after_s, 30);
  EXPECT_THAT(third.error().message, HasSubstr("2 requests a minute"));
  EXPECT_TRUE(use.admit(kBob, limits, kNow)) << "another key";
  EXPECT_FALSE(use.admit(kAlice, limits, kNow + 29s));
  EXPECT_TRUE(use.admit(kAlice, limits, kNow + 30s));
}

TEST(KeyUse, LetsSoManyBeUnderWayAtOnce) {
  KeyUse use;
  const KeyLimits limits{.at_once = 1};
  auto first = use.admit(kAlice, limits, kNow);
  ASSERT_TRUE(first);
  const auto second = use.admit(kAlice, limits, kNow);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("1 requests under way"));
  EXPECT_GT(second.error().retry_after_s, 0);
  first->reset();
  EXPECT_TRUE(use.admit(kAlice, limits, kNow));
}

// What is refused for being one too many at once is not counted against the minute.
TEST(KeyUse, CountsNoRequestThatItRefuses) {
  KeyUse use;
  const KeyLimits limits{.per_minute = 2, .at_once = 1};
  auto first = use.admit(kAlice, limits, kNow);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(use.admit(kAlice, limits, kNow));
  first->reset();
  EXPECT_TRUE(use.admit(kAlice, limits, kNow));
}

TEST(KeyUse, CountsNothingWithoutLimitsAndForgetsIdleKeys) {
  KeyUse use;
  for (TenantId key = 1; key < 100; ++key) EXPECT_TRUE(use.admit(key, {}, kNow));
  EXPECT_EQ(use.tenants(), 0U);
  for (TenantId key = 1; key <= kApiKeysMax; ++key) EXPECT_TRUE(use.admit(key, {.per_minute = 1}, kNow));
  EXPECT_TRUE(use.admit(kApiKeysMax + 1, {.per_minute = 1}, kNow + 1min));
  EXPECT_EQ(use.tenants(), 1U);
}

TEST(KeyLimits, StandBehindAKey) {
  const auto keys = ApiKeys::parse("sk-one rpm=60\nalice sk-two concurrent=4 rpm=7\nsk-three\nrpm=9\n");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->find("sk-one"), (KeyLimits{.per_minute = 60}));
  EXPECT_EQ(keys->find("sk-two"), (KeyLimits{.per_minute = 7, .at_once = 4}));
  EXPECT_EQ(keys->find("sk-three"), KeyLimits{});
  EXPECT_EQ(keys->find("rpm=9"), KeyLimits{}) << "a key may look like that";
  EXPECT_EQ(keys->find("sk-four"), std::nullopt);
  for (const char* bad : {"sk rpm=0", "sk rpm=1000001", "sk rpm=x", "sk rpm=", "sk concurrent=1.5"}) {
    const auto none = ApiKeys::parse(bad);
    ASSERT_FALSE(none) << bad;
    EXPECT_THAT(none.error().message, HasSubstr("between 1 and 1000000"));
  }
}

// Otherwise the misspelt word, or the name, would be a key that anybody may guess.
TEST(KeyLimits, ThatAreMisspeltOrStandBehindANameAloneAreRefused) {
  for (const char* bad : {"sk-one rpn=60", "sk-one concurrency=4", "sk-one RPM=60"}) {
    const auto none = ApiKeys::parse(bad);
    ASSERT_FALSE(none) << bad;
    EXPECT_THAT(none.error().message, HasSubstr("is no limit; there are rpm=N and concurrent=N"));
  }
  const auto name = ApiKeys::parse("bob rpm=60");
  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("behind a name the key is missing"));
  EXPECT_TRUE(ApiKeys::parse("bob c2VjcmV0IQ==\n")) << "a key may end in =";
}

TEST(KeyUse, BeginsALimitThatComesLaterWithAFullBucket) {
  KeyUse use;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(use.admit(7, {.at_once = 4}, kNow));
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(use.admit(7, {.per_minute = 60, .at_once = 4}, kNow)) << i;
  EXPECT_FALSE(use.admit(7, {.per_minute = 60, .at_once = 4}, kNow));
}

}  // namespace
}  // namespace slipstream
