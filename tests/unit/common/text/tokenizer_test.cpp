#include "common/text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "common/text/utf8.h"
#include "tests/data/sentencepiece_gguf.h"
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
  other["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", nlohmann::json::parse(R"([["<unk>", 0], ["a", -1]])")}};
  EXPECT_THAT(Tokenizer::load(folder.write("unigram.json", other.dump())).error().message, testing::HasSubstr("is no BPE"));
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

// Of tests/data/sentencepiece: what the sentencepiece package makes of texts.
class SentencePiece : public testing::Test {
 protected:
  Tokenizer tokenizer(const std::string& name) const {
    return sentencepiece_tokenizer(name, folder_.path() / (name + ".gguf"));
  }
  // The same words in a tokenizer.json of another form.
  Tokenizer changed(const std::function<void(nlohmann::json&)>& change) const {
    tokenizer("with_bytes");
    auto json = nlohmann::json::parse(gguf_tokenizer_json(GgufFile::open(folder_.path() / "with_bytes.gguf").value()).value());
    change(json);
    return Tokenizer::parse(json.dump(), "changed").value();
  }
  TemporaryFolder folder_;
};

TEST_F(SentencePiece, GivesItsIdsForEveryGoldenText) {
  for (const char* name : {"with_bytes", "no_prefix", "without", "gemma"}) {
    const Tokenizer tokenizer = this->tokenizer(name);
    for (const auto& one : sentencepiece_golden(name)["texts"]) {
      EXPECT_EQ(tokenizer.encode(one["text"].get<std::string>(), false).value(), one["ids"].get<std::vector<TokenId>>()) << one;
    }
  }
}

TEST_F(SentencePiece, DecodesWhatItDecodes) {
  for (const char* name : {"with_bytes", "no_prefix", "without", "gemma"}) {
    const Tokenizer tokenizer = this->tokenizer(name);
    const auto golden = sentencepiece_golden(name);
    const TokenId unknown = golden.value("unknown", 0);
    for (const auto& one : golden["texts"]) {
      const std::vector<TokenId> ids = one["ids"];
      if (std::ranges::find(ids, unknown) != ids.end()) continue;  // the unknown token, which it writes as U+2047
      EXPECT_EQ(tokenizer.whole_text(ids).value(), one["decoded"]) << one;
    }
  }
}

TEST_F(SentencePiece, SpellsBytesAndSpaces) {
  const Tokenizer tokenizer = this->tokenizer("with_bytes");
  const auto bytes = [&](const char* token) { return tokenizer.piece(tokenizer.id(token).value()).value(); };
  EXPECT_EQ(bytes("<0x0A>"), "\n");
  EXPECT_EQ(bytes("<0xE2>"), "\xE2");
  EXPECT_EQ(bytes("<0x00>"), std::string_view("\0", 1));
  EXPECT_EQ(bytes("▁the"), " the");
  EXPECT_EQ(bytes("▁▁"), "  ");
  EXPECT_EQ(bytes("<s>"), "<s>");
  EXPECT_FALSE(tokenizer.is_special(tokenizer.id("<0x0A>").value()));
  for (const char* special : {"<unk>", "<s>", "</s>"}) EXPECT_TRUE(tokenizer.is_special(tokenizer.id(special).value()));
}

TEST_F(SentencePiece, GivesTheMiddleOfATextWithoutASpaceBeforeIt) {
  const Tokenizer with = this->tokenizer("with_bytes"), without = this->tokenizer("no_prefix");
  EXPECT_EQ(with.encode("the", false).value(), std::vector{with.id("▁the").value()});
  EXPECT_EQ(with.encode_inside(" the").value(), std::vector{with.id("▁the").value()});
  EXPECT_NE(with.encode_inside("the").value(), with.encode("the", false).value());
  for (const auto& one : sentencepiece_golden("with_bytes")["texts"]) {
    const std::string text = one["text"];
    EXPECT_EQ(without.encode_inside(text).value(), without.encode(text, false).value()) << one;
    std::string bytes;
    const std::vector<TokenId> ids = with.encode_inside(text).value();
    for (const TokenId id : ids) bytes += with.piece(id).value();
    std::string spaces = text;  // the two are the same to it
    for (size_t at = spaces.find("▁"); at != spaces.npos; at = spaces.find("▁")) spaces.replace(at, 3, " ");
    EXPECT_EQ(bytes, spaces);
    if (text.empty()) continue;
    EXPECT_EQ(with.encode_inside(" " + text).value(), with.encode(text, false).value()) << one;
  }
}

// As the tokenizer.json files of Llama 2 and Mistral do.
TEST_F(SentencePiece, PutsASpaceBehindEverySpecialToken) {
  const Tokenizer tokenizer = this->tokenizer("with_bytes");
  const TokenId begin = tokenizer.id("<s>").value(), the = tokenizer.id("▁the").value();
  EXPECT_EQ(tokenizer.encode("<s>the<s>the", true).value(), (std::vector{begin, the, begin, the}));
  EXPECT_EQ(tokenizer.whole_text(std::vector{begin, the}).value(), "<s>the");
  EXPECT_EQ(tokenizer.decode(std::vector{begin, the, the}, true).value(), " the the");
  EXPECT_EQ(tokenizer.encode_marked("<s><\xF4\x8F\xBF\xBDs>the", 0x10FFFD).value().front(), begin);
  auto ids = tokenizer.encode_marked("<s><\xF4\x8F\xBF\xBDs>the", 0x10FFFD).value();
  ids.erase(ids.begin());
  EXPECT_EQ(ids, tokenizer.encode("<s>the", false).value());
}

TEST_F(SentencePiece, PutsTheBeginningOfASequenceBeforeATextOfItsOwn) {
  EXPECT_EQ(tokenizer("with_bytes").prefix(), std::vector<TokenId>{1});
  EXPECT_EQ(tiny_tokenizer().prefix(), std::vector<TokenId>{});
}

// Newer files say so instead of the normalizer. Only the beginning of a text gets the space then.
TEST_F(SentencePiece, IsReadInTheFormWithAMetaspace) {
  const Tokenizer tokenizer = changed([](nlohmann::json& json) {
    json["normalizer"] = nullptr;
    json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}, {"split", false}};
  });
  const Tokenizer other = this->tokenizer("with_bytes");
  const TokenId begin = tokenizer.id("<s>").value(), the = tokenizer.id("▁the").value();
  EXPECT_EQ(tokenizer.encode("the the", true).value(), (std::vector{the, the}));
  EXPECT_EQ(tokenizer.encode("<s> the", true).value(), (std::vector{begin, the}));
  for (const char* text : {"the", " the", "x<s>y\n"}) {
    EXPECT_EQ(tokenizer.encode_inside(text).value(), other.encode_inside(text).value()) << text;
  }
}

// A user who writes the spaces must not write the token.
TEST_F(SentencePiece, KnowsHowElseASpecialTokenMayBeWritten) {
  const Tokenizer tokenizer = changed([](nlohmann::json& json) {
    json["normalizer"]["normalizers"].erase(0);  // Prepend, which would be put before the token, too
    json["model"]["vocab"]["▁<fill>"] = 700;
    json["added_tokens"].push_back({{"id", 700},
                                    {"content", "▁<fill>"},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", true},
                                    {"special", true}});
  });
  EXPECT_EQ(tokenizer.encode("a <fill>", true).value().back(), 700);
  EXPECT_THAT(std::vector<std::string>(tokenizer.specials().begin(), tokenizer.specials().end()),
              testing::UnorderedElementsAre("<unk>", "<s>", "</s>", "▁<fill>", " <fill>"));
  EXPECT_EQ(tokenizer.piece(700).value(), " <fill>");
}

TEST_F(SentencePiece, IsReadWithEachKnownEndOfItsDecoder) {
  const auto without_strip = changed([](nlohmann::json& json) { json["decoder"]["decoders"].erase(3); });
  EXPECT_FALSE(without_strip.drops_first_space());
  EXPECT_EQ(without_strip.whole_text(without_strip.encode("the", false).value()).value(), " the");
  const auto without_bytes = changed([](nlohmann::json& json) { json["decoder"]["decoders"].erase(1); });
  EXPECT_EQ(without_bytes.piece(without_bytes.id("<0x0A>").value()).value(), "<0x0A>");
  for (const int step : {0, 2}) {
    tokenizer("with_bytes");
    auto json = nlohmann::json::parse(gguf_tokenizer_json(GgufFile::open(folder_.path() / "with_bytes.gguf").value()).value());
    json["decoder"]["decoders"].erase(step);
    EXPECT_THAT(Tokenizer::parse(json.dump(), "x").error().message, testing::HasSubstr("SentencePiece BPE")) << step;
  }
}

}  // namespace
}  // namespace slipstream
