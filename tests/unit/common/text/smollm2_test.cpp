// The demo model's own tokenizer and template, as tools/setup makes them; skipped where the model
// was not fetched.
#include <gtest/gtest.h>

#include "common/text/chat_prompt.h"
#include "common/text/utf8.h"
#include "tests/unit/common/text/golden.h"

namespace slipstream {
namespace {

class SmolLm2 : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_ / "SHA256SUMS")) GTEST_SKIP() << "make setup fetches " << folder_.string();
  }
  std::filesystem::path folder_ = source_folder() / "models/smollm2-135m-instruct";
};

TEST_F(SmolLm2, GivesHuggingFacesIdsAndText) {
  const Tokenizer tokenizer = Tokenizer::load(folder_ / "tokenizer.json").value();
  EXPECT_EQ(tokenizer.vocabulary(), 49152);
  for (const auto& one : golden("texts", "smollm2_golden.json")) {
    const std::vector<TokenId> ids = one["ids"];
    EXPECT_EQ(tokenizer.encode(one["text"].get<std::string>(), true).value(), ids) << one;
    EXPECT_EQ(tokenizer.encode(one["text"].get<std::string>(), false).value(), one["plain_ids"].get<std::vector<TokenId>>());
    EXPECT_EQ(lossy_utf8(tokenizer.decode(ids, true).value()), one["decoded"]) << one;
  }
}

TEST_F(SmolLm2, GivesHuggingFacesPromptForAChat) {
  const Tokenizer tokenizer = Tokenizer::load(folder_ / "tokenizer.json").value();
  const ChatTemplate chat_template = ChatTemplate::load(folder_).value();
  for (const auto& chat : golden("chats", "smollm2_golden.json")) {
    EXPECT_EQ(chat_template.render(messages_of(chat)).value(), chat["text"]);
    EXPECT_EQ(chat_prompt(tokenizer, chat_template, messages_of(chat)).value(), chat["ids"].get<std::vector<TokenId>>());
  }
}

}  // namespace
}  // namespace slipstream
