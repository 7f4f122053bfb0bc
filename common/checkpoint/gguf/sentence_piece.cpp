#include "common/checkpoint/gguf/sentence_piece.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

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
  std::string_view left, right;
};

// Of equal scores the one with the longer left part comes first, then with the longer right part,
// as in transformers' converter.
bool before(const Merge& a, const Merge& b) {
  const auto rank = [](const Merge& each) { return std::tuple(each.score, each.left.size(), each.right.size()); };
  return rank(a) > rank(b);
}

Result<json> merges_of(const GgufFile& file, const GgufVocabulary& vocabulary) {
  TRY(const std::vector<float> scores, file.fields().floats("tokenizer.ggml.scores"));
  const auto& tokens = vocabulary.tokens;
  if (scores.size() != tokens.size()) return fail("{}: {} tokens have {} scores", file.what(), tokens.size(), scores.size());
  std::unordered_map<std::string_view, size_t> parts;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (vocabulary.types[id] == GgufTokenType::normal) parts.emplace(tokens[id], id);
  }
  std::vector<Merge> merges;
  for (const auto& [token, id] : parts) {
    if (token.size() > kTokenBytesMax) {
      return fail("{}: token {} has {} bytes, supported are {}", file.what(), id, token.size(), kTokenBytesMax);
    }
    for (size_t at = 1; at < token.size(); ++at) {
      if (!begins_character(token[at])) continue;
      const Merge merge{.score = scores[id], .left = token.substr(0, at), .right = token.substr(at)};
      if (parts.contains(merge.left) && parts.contains(merge.right)) merges.push_back(merge);
    }
  }
  // Texts as well, so that equal ranks have one order whatever the map's.
  std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
    if (before(a, b) || before(b, a)) return before(a, b);
    return std::tie(a.left, a.right) < std::tie(b.left, b.right);
  });
  json pairs = json::array();
  for (const Merge& merge : merges) pairs.push_back({merge.left, merge.right});
  return pairs;
}

Result<void> refuse_normalisers(const GgufFile& file) {
  TRY(const bool trims, file.fields().boolean_or("tokenizer.ggml.remove_extra_whitespaces", false));
  if (!trims && !file.fields().has("tokenizer.ggml.precompiled_charsmap")) return {};
  return fail(
      "{}: its tokenizer changes texts before it reads them (precompiled_charsmap, remove_extra_whitespaces), which is "
      "not supported: give the model's Hugging Face folder",
      file.what());
}

}  // namespace

Result<json> sentence_piece_json(const GgufFile& file) {
  TRY_VOID(refuse_normalisers(file));
  TRY(const bool prefix, file.fields().boolean_or("tokenizer.ggml.add_space_prefix", true));
  TRY(const GgufVocabulary vocabulary, read_gguf_vocabulary(file, kTypes, "a SentencePiece tokenizer"));
  TRY(json merges, merges_of(file, vocabulary));
  TRY(json post_processor, gguf_post_processor(file, true));
  const auto count = [&](GgufTokenType type) { return std::ranges::count(vocabulary.types, type); };
  const bool bytes = count(GgufTokenType::byte) == 256;
  const auto unknown = std::ranges::find(vocabulary.types, GgufTokenType::unknown);
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    // It would be looked for in the text as it was written, which has spaces.
    if (prefix && vocabulary.types[id] == GgufTokenType::user_defined && vocabulary.tokens[id].contains(kSpace)) {
      return fail(
          "{}: token {} is user-defined and holds a space, which is not supported: give the model's Hugging Face folder",
          file.what(), id);
    }
  }
  json added = vocabulary.added();
  for (json& each : added) {
    if (!each["special"].get<bool>()) each["normalized"] = !prefix;
  }
  json steps = json::array();
  if (prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpace}});
  json decoders = {{{"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}},
                   {{"type", "ByteFallback"}},
                   {{"type", "Fuse"}}};
  if (prefix) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  json tokenizer = {{"version", "1.0"},
                    {"truncation", nullptr},
                    {"padding", nullptr},
                    {"added_tokens", std::move(added)},
                    {"normalizer", {{"type", "Sequence"}, {"normalizers", std::move(steps)}}},
                    {"pre_tokenizer", nullptr},
                    {"post_processor", std::move(post_processor)},
                    {"decoder", {{"type", "Sequence"}, {"decoders", std::move(decoders)}}}};
  tokenizer["model"] = {{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", nullptr},
                        {"end_of_word_suffix", nullptr},
                        {"fuse_unk", true},
                        {"byte_fallback", bytes},
                        {"ignore_merges", false},
                        {"vocab", vocabulary.ids()},
                        {"merges", std::move(merges)}};
  if (unknown != vocabulary.types.end()) {
    tokenizer["model"]["unk_token"] = vocabulary.tokens[static_cast<size_t>(unknown - vocabulary.types.begin())];
  }
  return tokenizer;
}

}  // namespace slipstream
