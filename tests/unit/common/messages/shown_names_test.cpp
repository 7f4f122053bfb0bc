#include "common/messages/shown_names.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ShownNames, ThoseOfOurMethodsAndOfFoldersAreTaken) {
  for (const char* method : {"", "ngram", "small-lm", "my method", "heads", "resident"}) {
    EXPECT_TRUE(check_method_name(method)) << method;
  }
  EXPECT_TRUE(check_model_name("modèle 0.6B"));
  EXPECT_TRUE(check_model_name(std::string(kShownNameBytesMax, 'a')));
}

TEST(ShownNames, AMethodOfAVerifiersOwnIsRefusedToDrafters) {
  for (const char* method : {"resident-ngram", "resident-", "head", "grammar", "other"}) {
    const auto checked = check_method_name(method);
    ASSERT_FALSE(checked) << method;
    EXPECT_THAT(checked.error().message, HasSubstr("give it another"));
  }
}

TEST(ShownNames, OneThatCannotBeShownIsRefusedWithoutBeingRepeated) {
  const auto checked = check_model_name("small\nrouter: all is well");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("draft model has a line break"));
  EXPECT_THAT(checked.error().message, Not(HasSubstr("all is well")));
}

TEST(ShownNames, OneThatIsTooLongIsRefusedWithTheLimit) {
  const auto checked = check_method_name(std::string(kShownNameBytesMax + 1, 'a'));
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("257 bytes: use a name of at most 256"));
}

TEST(ShownNames, EachNameOfAHelloIsChecked) {
  const std::function<void(Hello&)> bad[] = {
      [](Hello& hello) { hello.methods = {"ngram", "a\nb"}; },   [](Hello& hello) { hello.methods = {"resident-ngram"}; },
      [](Hello& hello) { hello.draft_model = "a\nb"; },          [](Hello& hello) { hello.numerics_id = "a\nb"; },
      [](Hello& hello) { hello.draft_endpoint = "tcp://a\nb"; }, [](Hello& hello) { hello.metrics_endpoint = "http://a\nb"; }};
  EXPECT_TRUE(check_names(Hello{.methods = {"ngram"}}));
  for (const auto& spoil : bad) {
    Hello hello;
    spoil(hello);
    EXPECT_FALSE(check_names(hello));
  }
}

TEST(ShownNames, BothNamesOfAnAttachedAreChecked) {
  EXPECT_TRUE(check_names(Attached{.method = "small-lm", .model = "small"}));
  EXPECT_FALSE(check_names(Attached{.method = "grammar"}));
  EXPECT_FALSE(check_names(Attached{.method = "small-lm", .model = "a\u2028b"}));
}

}  // namespace
}  // namespace slipstream
