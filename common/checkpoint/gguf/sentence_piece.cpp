#include "common/checkpoint/gguf/sentence_piece.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "common/checkpoint/gguf/tokenizer_parts.h"

namespace slipstream {
namespace {

using nlohmann::json;

constexpr const char* kSpace = "\u2581";
constexpr GgufTokenType kTypes[] = {GgufTokenType::normal,       GgufTokenType::unknown, GgufTokenType::control,
                                    GgufTokenType::user_defined, GgufTokenType::unused,  GgufTokenType::byte};
constexpr size_t kTokenBytesMax = 256;  // of a token that merges make: its ways to be made grow with its length

bool begins_character(char byte) { return (byte & 0xC0) != 0x80; }

// Two tokens that make a third.
struct Merge {
  float score;
  int left_characters, right_characters;
  std::string_view left, right;
};

int characters_in(std::string_view text) { return static_cast<int>(std::ranges::count_if(text, begins_character)); }

// As in transformers' converter, the merge of the token with the highest score comes first; of
// equal scores that with the longer left part, then with the longer right part.
bool before(const Merge& a, const Merge& b) {
  const auto rank = [](const Merge& each) { return std::tuple(each.score, each.left_characters, each.right_characters); };
  return rank(a) > rank(b);
}

Result<json> merges_of(const GgufFile& file, const GgufVocabulary& vocabulary) {
  TRY(const std::vector<float> scores, file.fields().floats("tokenizer.ggml.scores"));
  const auto& tokens = vocabulary.tokens;
  if (scores.size() != tokens.size()) return fail("{}: {} tokens have {} scores", file.what(), tokens.size(), scores.size());
  std::unordered_set<std::string_view> parts;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (vocabulary.types[id] == GgufTokenType::normal) parts.insert(tokens[id]);
  }
  std::vector<Merge> merges;
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens[id];
    if (vocabulary.types[id] != GgufTokenType::normal) continue;
    if (token.size() > kTokenBytesMax) {
      return fail("{}: token {} has {} bytes, supported are {}", file.what(), id, token.size(), kTokenBytesMax);
    }
    const int characters = characters_in(token);
    int left = 1;
    for (size_t at = 1; at < token.size(); ++at) {
      if (!begins_character(token[at])) continue;
      const Merge merge{scores[id], left, characters - left, token.substr(0, at), token.substr(at)};
      if (parts.contains(merge.left) && parts.contains(merge.right)) merges.push_back(merge);
      ++left;
    }
  }
  std::ranges::stable_sort(merges, before);  // what is equal stays in the order of the ids, as there
  json pairs = json::array();
  for (const Merge& merge : merges) pairs.push_back({merge.left, merge.right});
  return pairs;
}

// "<0x0A>", by which the tokenizers library finds the token of a byte.
bool names_byte(std::string_view token) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return token.size() == 6 && token.starts_with("<0x") && hex(token[3]) && hex(token[4]) && token[5] == '>';
}

Result<void> refuse_normalisers(const GgufFile& file) {
  TRY(const bool trims, file.fields().boolean_or("tokenizer.ggml.remove_extra_whitespaces", false));
  if (!trims && !file.fields().has("tokenizer.ggml.precompiled_charsmap")) return {};
  return fail(
      "{}: its tokenizer changes texts before it reads them (precompiled_charsmap, remove_extra_whitespaces), which is "
      "not supported: give the model's Hugging Face folder",
      file.what());
}

// What would be read otherwise than SentencePiece reads it. prefix: a space is put before a text;
// bytes: there is a token for each byte.
Result<void> refuse_tokens(const GgufFile& file, const GgufVocabulary& vocabulary, bool prefix, bool bytes) {
  const auto& [tokens, types] = vocabulary;
  if (!bytes && std::ranges::find(types, GgufTokenType::unknown) == types.end()) {
    return fail("{}: it has neither an unknown token nor one for each byte: some characters would be left out of texts",
                file.what());
  }
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (types[id] == GgufTokenType::byte && !names_byte(tokens[id])) {
      return fail("{}: token {} stands for a byte and is none of <0x00> to <0xFF>: \"{:.100}\"", file.what(), id, tokens[id]);
    }
    // It would be looked for in the text as it was written, which has spaces.
    if (prefix && types[id] == GgufTokenType::user_defined && tokens[id].contains(kSpace)) {
      return fail(
          "{}: token {} is user-defined and holds a space, which is not supported: give the model's Hugging Face folder",
          file.what(), id);
    }
  }
  return {};
}

}  // namespace

Result<json> sentence_piece_json(const GgufFile& file) {
  TRY_VOID(refuse_normalisers(file));
  TRY(const bool prefix, file.fields().boolean_or("tokenizer.ggml.add_space_prefix", true));
  TRY(const GgufVocabulary vocabulary, read_gguf_vocabulary(file, kTypes, "a SentencePiece tokenizer"));
  const bool bytes = std::ranges::count(vocabulary.types, GgufTokenType::byte) == 256;
  TRY(json merges, merges_of(file, vocabulary));
  TRY(json post_processor, gguf_post_processor(file, true));
  TRY_VOID(refuse_tokens(file, vocabulary, prefix, bytes));
  json tokenizer = bpe_json(vocabulary, std::move(merges), std::move(post_processor));
  for (json& each : tokenizer["added_tokens"]) {
    if (!each["special"].get<bool>()) each["normalized"] = !prefix;
  }
  json steps = json::array();
  if (prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpace}});
  json decoders = {{{"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}},
                   {{"type", "ByteFallback"}},
                   {{"type", "Fuse"}}};
  if (prefix) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  tokenizer["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  tokenizer["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(decoders)}};
  json& model = tokenizer["model"];
  model["fuse_unk"] = true;
  model["byte_fallback"] = bytes;
  const auto unknown = std::ranges::find(vocabulary.types, GgufTokenType::unknown);
  if (unknown != vocabulary.types.end()) {
    model["unk_token"] = vocabulary.tokens[static_cast<size_t>(unknown - vocabulary.types.begin())];
  }
  return tokenizer;
}

}  // namespace slipstream
