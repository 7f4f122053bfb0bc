// Answers of many chats at once are those of each alone.
#include "tools/train/chat_answerer.h"

#include <gmock/gmock.h>

#include "tests/unit/tools/train/tiny_features.h"

namespace slipstream::train {
namespace {

using testing::HasSubstr;

std::vector<ChatDocument> answered(const AnswerSettings& settings, int32_t at_once) {
  auto model = load_alone(tiny_target(), {}, {.cache_blocks = 64}).value();
  return answer_all(model, random_chats(7), settings, at_once, [] { return true; }).value();
}

TEST(ChatAnswerer, AnswersManyChatsAsEachAlone) {
  for (const float temperature : {0.0F, 1.0F}) {
    const AnswerSettings settings{.answer_tokens = 24, .temperature = temperature, .seed = 5};
    const std::vector<ChatDocument> alone = answered(settings, 1), together = answered(settings, 3);
    ASSERT_EQ(alone.size(), 7u);
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(alone[i].tokens, together[i].tokens) << i;
      EXPECT_EQ(together[i].answer, 4);
      EXPECT_GT(together[i].tokens.size(), 4u);
      EXPECT_LE(together[i].tokens.size(), 28u);
    }
  }
}

TEST(ChatAnswerer, EndsWhenItIsTold) {
  auto model = load_alone(tiny_target(), {}, {.cache_blocks = 64}).value();
  EXPECT_THAT(answer_all(model, random_chats(3), {}, 2, [] { return false; }).error().message, HasSubstr("written whole"));
}

}  // namespace
}  // namespace slipstream::train
