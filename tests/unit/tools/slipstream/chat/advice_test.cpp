#include "tools/slipstream/chat/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream::command::chat {
namespace {

using testing::HasSubstr;

TEST(Advice, SaysHowToGoOnWithAChatThatIsTooLong) {
  EXPECT_THAT(advice({.status = 400, .code = "context_length_exceeded"}), HasSubstr("/clear"));
}

TEST(Advice, SaysWhenToAskAgainWhereTheServerDid) {
  EXPECT_THAT(advice({.status = 503, .code = "queue_timeout", .retry_after = "5"}), HasSubstr("/retry in 5 s"));
  EXPECT_THAT(advice({.status = 429, .code = "queue_full"}), HasSubstr("/retry in a moment"));
  EXPECT_THAT(advice({.status = 503, .code = "no_verifier"}), HasSubstr("until a verifier has started"));
}

TEST(Advice, SaysWhatAServerThatIsGoneNeeds) { EXPECT_THAT(advice({}), HasSubstr("/retry")); }

TEST(Advice, SaysNothingWhereOnlyTheQuestionCanChange) { EXPECT_EQ(advice({.status = 400, .code = "invalid_value"}), ""); }

}  // namespace
}  // namespace slipstream::command::chat
