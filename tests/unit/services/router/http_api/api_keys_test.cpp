#include "services/router/http_api/api_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string error_of(std::string_view text) {
  const auto keys = ApiKeys::parse(text);
  return keys ? "" : keys.error().message;
}

TEST(ApiKeys, AreOneALineWithANameBeforeThemOrNone) {
  const auto keys = ApiKeys::parse("# laptops\n\nsk-one\n  alice\tsk-two \r\n#sk-three\nbob sk-four");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->size(), 3U);
  for (const char* key : {"sk-one", "sk-two", "sk-four"}) EXPECT_TRUE(keys->has(key)) << key;
  for (const char* key : {"", "sk-on", "sk-one1", "alice", "sk-three", "#sk-three", "alice sk-two", "SK-ONE"})
    EXPECT_FALSE(keys->has(key)) << key;
}

TEST(ApiKeys, NameTheLineThatIsBadAndNeverAKey) {
  EXPECT_THAT(error_of("one\n\nalice smith sk-two\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("NAME KEY"), Not(HasSubstr("sk-two"))));
  EXPECT_THAT(error_of("sk-one #alice\n"), AllOf(HasSubstr("line 1"), HasSubstr("of its own")));
  EXPECT_THAT(error_of("one\nalice one\n"), AllOf(HasSubstr("line 2"), HasSubstr("there already")));
  EXPECT_THAT(error_of("sch\xc3\xbcssel\n"), AllOf(HasSubstr("line 1"), HasSubstr("ASCII")));
  EXPECT_THAT(error_of(std::string("a\0b\n", 4)), HasSubstr("line 1"));
}

TEST(ApiKeys, AreAnAdminsIfTheWordStandsBehindThem) {
  const auto keys =
      ApiKeys::parse("alice sk-0123456789abcdef admin rpm=9\nbob sk-fedcba9876543210 admin\nadmin sk-two\nsk-one rpm=3");
  ASSERT_TRUE(keys) << keys.error().message;
  for (const char* key : {"sk-0123456789abcdef", "sk-fedcba9876543210"}) EXPECT_TRUE(keys->is_admin(key)) << key;
  for (const char* key : {"sk-one", "sk-two", "admin", "alice", ""}) EXPECT_FALSE(keys->is_admin(key)) << key;
  EXPECT_EQ(keys->find("sk-0123456789abcdef")->per_minute, 9);
}

// Or the name before a key that is missing would be an admin's key.
TEST(ApiKeys, WithAWordHaveAName) {
  for (const char* line : {"benjamin-of-the-second-floor admin", "sk-0123456789abcdef admin rpm=9"})
    EXPECT_THAT(error_of(line), AllOf(HasSubstr("line 1"), HasSubstr("NAME KEY admin"), HasSubstr("is missing"))) << line;
  EXPECT_THAT(error_of("# keys\nbenjamin-of-the-second-floor priority"),
              AllOf(HasSubstr("line 2"), HasSubstr("NAME KEY priority")));
}

// Or a word that is guessed easily would be a key.
TEST(ApiKeys, OfAnAdminAreLongAndTheWordIsInSmallLetters) {
  EXPECT_THAT(error_of("alice sk-0123456789ab admin\n"), AllOf(HasSubstr("line 1"), HasSubstr("at least 16")));
  EXPECT_THAT(error_of("sk-0123456789abcdef Admin\n"), HasSubstr("small letters"));
}

TEST(ApiKeys, MayGoFirstIfTheWordStandsBehindThemOrTheyAreAnAdmins) {
  const auto keys = ApiKeys::parse("alice sk-0123456789abcdef priority rpm=9\nbob sk-fedcba9876543210 admin\npriority sk-one");
  ASSERT_TRUE(keys) << keys.error().message;
  for (const char* key : {"sk-0123456789abcdef", "sk-fedcba9876543210"}) EXPECT_TRUE(keys->may_go_first(key)) << key;
  EXPECT_FALSE(keys->may_go_first("sk-one"));
  EXPECT_FALSE(keys->is_admin("sk-0123456789abcdef"));
  EXPECT_EQ(keys->find("sk-0123456789abcdef")->per_minute, 9);
  EXPECT_THAT(error_of("alice sk-0123456789ab priority\n"), AllOf(HasSubstr("line 1"), HasSubstr("at least 16")));
  EXPECT_THAT(error_of("sk-0123456789abcdef Priority\n"), HasSubstr("small letters"));
}

TEST(ApiKeys, HaveABoundOnTheirLengthAndTheirNumber) {
  EXPECT_EQ(error_of(std::string(kApiKeyBytesMax, 'k')), "");
  EXPECT_THAT(error_of(std::string(kApiKeyBytesMax + 1, 'k')), HasSubstr("the limit is 512"));
  std::string text;
  for (size_t key = 0; key < kApiKeysMax; ++key) text += std::to_string(key) + '\n';
  EXPECT_EQ(error_of(text), "");
  EXPECT_THAT(error_of(text + "more\n"), AllOf(HasSubstr("line 4097"), HasSubstr("4096 keys are the most")));
}

// A file that holds no key is most likely one that is just being written.
TEST(ApiKeys, AreAtLeastOne) {
  for (const char* text : {"", "\n\n", "# sk-one\n"}) EXPECT_THAT(error_of(text), HasSubstr("no key")) << text;
}

}  // namespace
}  // namespace slipstream
