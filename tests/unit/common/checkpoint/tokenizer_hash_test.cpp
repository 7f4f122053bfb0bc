#include "common/checkpoint/tokenizer_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Result<uint64_t> hash_text(const std::string& text) {
  return hash_tokenizer_json(std::as_bytes(std::span(text)), "tokenizer.json");
}
uint64_t hash(const json& tokenizer) { return hash_text(tokenizer.dump()).value(); }

json tokenizer() {
  return json::parse(R"({
    "version": "1.0", "truncation": null,
    "added_tokens": [{"id": 3, "content": "<end>", "special": true, "lstrip": false}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "dropout": null, "byte_fallback": false, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

TEST(TokenizerHash, IsThatOfTheSameTokenizerInOtherWords) {
  const uint64_t plain = hash(tokenizer());
  const auto same = [&](const char* pointer, const json& value) {
    json other = tokenizer();
    other[json::json_pointer(pointer)] = value;
    EXPECT_EQ(hash(other), plain) << pointer << " " << value;
  };
  EXPECT_EQ(hash_text(tokenizer().dump(4)).value(), plain);  // white space
  same("/model/merges/0", json::array({"a", "b"}));
  same("/model/vocab/<end>", 3);  // an added token that is listed here as well
  same("/model/ignore_merges", false);
  same("/model/continuing_subword_prefix", "");
  same("/pre_tokenizer/trim_offsets", false);
  same("/post_processor", {{"type", "ByteLevel"}});
  same("/padding", {{"strategy", "BatchLongest"}});
  same("/added_tokens/0/rstrip", false);
  json absent = tokenizer();
  absent["pre_tokenizer"].erase("use_regex");
  EXPECT_EQ(hash(absent), plain);
}

TEST(TokenizerHash, ChangesWithAllThatChangesAnId) {
  const uint64_t plain = hash(tokenizer());
  const auto differs = [&](const char* pointer, const json& value) {
    json other = tokenizer();
    other[json::json_pointer(pointer)] = value;
    EXPECT_NE(hash(other), plain) << pointer << " " << value;
  };
  differs("/model/vocab/c", 4);
  differs("/model/vocab", {{"a", 1}, {"b", 0}, {"ab", 2}});
  differs("/model/merges", json::array({"a b", "ab a"}));
  differs("/model/merges", json::array({"b a"}));
  differs("/model/merges", json::parse(R"([["ab", ""]])"));
  differs("/model/ignore_merges", true);
  differs("/model/byte_fallback", true);
  differs("/model/unk_token", "a");
  differs("/model/type", "WordPiece");
  differs("/pre_tokenizer/use_regex", false);
  differs("/pre_tokenizer/add_prefix_space", true);
  differs("/pre_tokenizer", nullptr);
  differs("/normalizer", {{"type", "NFC"}});
  differs("/added_tokens/0/special", false);
  differs("/added_tokens/0/lstrip", true);
  differs("/added_tokens/0/content", "<fin>");
  differs("/added_tokens/0/id", 4);
  differs("/added_tokens", json::array());
}

TEST(TokenizerHash, SaysWhatIsNoTokenizer) {
  EXPECT_THAT(hash_text("{").error().message, HasSubstr("tokenizer.json is no valid JSON"));
  EXPECT_THAT(hash_text("{}").error().message, HasSubstr("has no field \"model\""));
  EXPECT_THAT(hash_text(R"({"model": {"vocab": [], "merges": []}})").error().message, HasSubstr("\"vocab\" must be an object"));
  EXPECT_THAT(hash_text(R"({"model": {"vocab": {"a": "0"}, "merges": []}})").error().message, HasSubstr("id is no number"));
  EXPECT_THAT(hash_text(R"({"model": {"vocab": {}, "merges": [1]}})").error().message, HasSubstr("no pair"));
  EXPECT_THAT(hash_text(R"({"added_tokens": [1], "model": {"vocab": {}, "merges": []}})").error().message,
              HasSubstr("has no id"));
}

}  // namespace
}  // namespace slipstream
