#include "common/text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "common/text/utf8.h"
#include "tests/unit/common/text/golden.h"

namespace slipstream {
namespace {

TEST(Tokenizer, GivesHuggingFacesIdsForEveryGoldenText) {
  const Tokenizer tokenizer = tiny_tokenizer();
  for (const auto& one : golden("texts")) {
    EXPECT_EQ(tokenizer.encode(one["text"].get<std::string>(), true).value(), one["ids"].get<std::vector<TokenId>>()) << one;
    EXPECT_EQ(tokenizer.encode(one["text"].get<std::string>(), false).value(), one["plain_ids"].get<std::vector<TokenId>>())
        << one;
  }
}

TEST(Tokenizer, DecodesWhatHuggingFaceDecodes) {
  const Tokenizer tokenizer = tiny_tokenizer();
  for (const auto& one : golden("texts")) {
    EXPECT_EQ(lossy_utf8(tokenizer.decode(one["ids"].get<std::vector<TokenId>>(), true).value()), one["decoded"]) << one;
  }
}

TEST(Tokenizer, GivesTheTextBackByteForByteWhenSpecialTokensAreKept) {
  const Tokenizer tokenizer = tiny_tokenizer();
  for (const auto& one : golden("texts")) {
    const std::string text = one["text"];
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, true).value(), false).value(), text);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, false).value(), true).value(), text);
  }
}

TEST(Tokenizer, ReadsASpecialTokenOnlyWhenAskedTo) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const TokenId end = tokenizer.id("<|im_end|>").value();
  EXPECT_EQ(tokenizer.encode("<|im_end|>", true).value(), std::vector<TokenId>{end});
  const std::vector<TokenId> words = tokenizer.encode("<|im_end|>", false).value();
  for (TokenId id : words) EXPECT_FALSE(tokenizer.is_special(id));
}

TEST(Tokenizer, TakesMarksOutAfterLookingForSpecialTokens) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const std::string mark = "\xF4\x8F\xBF\xBD";  // U+10FFFD
  EXPECT_EQ(tokenizer.encode_marked("a <" + mark + "|im_end|> b", 0x10FFFD).value(),
            tokenizer.encode("a <|im_end|> b", false).value());
  EXPECT_EQ(tokenizer.encode_marked(mark, 0x10FFFD).value(), std::vector<TokenId>{});
}

TEST(Tokenizer, KnowsItsVocabularyAndItsSpecialTokens) {
  const Tokenizer tokenizer = tiny_tokenizer();
  EXPECT_EQ(tokenizer.id("<|endoftext|>"), 0);
  EXPECT_EQ(tokenizer.id("<think>"), tokenizer.vocabulary() - 1);
  EXPECT_EQ(tokenizer.id("no such token"), std::nullopt);
  EXPECT_EQ(tokenizer.specials().size(), 3u);
  EXPECT_TRUE(tokenizer.is_special(2));
  EXPECT_FALSE(tokenizer.is_special(tokenizer.vocabulary() - 1));  // <think> is an added token, but an ordinary one
  EXPECT_FALSE(tokenizer.is_special(-1));
}

TEST(Tokenizer, RefusesIdsOutsideTheVocabulary) {
  const Tokenizer tokenizer = tiny_tokenizer();
  for (TokenId id : {-1, tokenizer.vocabulary()}) {
    EXPECT_THAT(tokenizer.decode(std::vector<TokenId>{id}, true).error().message, testing::HasSubstr("outside")) << id;
  }
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(tiny_tokenizer().encode("ab\xFF", true).error().message, testing::HasSubstr("UTF-8 at byte 2"));
}

TEST(Tokenizer, RefusesAFileThatIsMissingBrokenOrOfAnotherKind) {
  TemporaryFolder folder;
  EXPECT_THAT(Tokenizer::load(folder.path() / "none.json").error().message, testing::HasSubstr("is not a file"));
  EXPECT_THAT(Tokenizer::load(folder.path()).error().message, testing::HasSubstr("is not a file"));
  const std::string nested(100'000, '[');
  for (const std::string& json : {std::string(), std::string("{"), std::string("{}"), std::string("\xFF\xFE"), nested}) {
    EXPECT_THAT(Tokenizer::load(folder.write("broken.json", json)).error().message, testing::HasSubstr("cannot be used"));
  }
  nlohmann::json other = nlohmann::json::parse(std::ifstream(data_folder() / "tokenizer.json"));
  other["decoder"] = {{"type", "Fuse"}};
  EXPECT_THAT(Tokenizer::load(folder.write("fuse.json", other.dump())).error().message, testing::HasSubstr("byte-level"));
}

TEST(Tokenizer, RefusesATokenIdBeyondAnyVocabulary) {
  TemporaryFolder folder;
  nlohmann::json huge = nlohmann::json::parse(std::ifstream(data_folder() / "tokenizer.json"));
  huge["model"]["vocab"]["far"] = 4'000'000'000u;
  EXPECT_THAT(Tokenizer::load(folder.write("huge.json", huge.dump())).error().message, testing::HasSubstr("4000000000"));
}

TEST(Tokenizer, ServesSeveralThreadsAtOnce) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const auto texts = golden("texts");
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (const auto& one : texts) {
        EXPECT_EQ(tokenizer.encode(one["text"].get<std::string>(), true).value(), one["ids"].get<std::vector<TokenId>>());
      }
    });
  }
}

}  // namespace
}  // namespace slipstream
