#include "common/checkpoint/gguf/tokenizer_parts.h"

#include <algorithm>
#include <unordered_set>

#include <simdjson.h>

namespace slipstream {

using nlohmann::json;

json GgufVocabulary::ids() const {
  json ids = json::object();
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (types[id] != GgufTokenType::unused) ids.emplace(tokens[id], id);
  }
  return ids;
}

json GgufVocabulary::added() const {
  json added = json::array();
  for (size_t id = 0; id < tokens.size(); ++id) {
    const bool special = types[id] == GgufTokenType::control || types[id] == GgufTokenType::unknown;
    if (!special && types[id] != GgufTokenType::user_defined) continue;
    added.push_back({{"id", id},
                     {"content", tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", special}});
  }
  return added;
}

Result<GgufVocabulary> read_gguf_vocabulary(const GgufFile& file, std::span<const GgufTokenType> may_be,
                                            std::string_view kind) {
  GgufVocabulary vocabulary;
  TRY(vocabulary.tokens, file.fields().texts("tokenizer.ggml.tokens"));
  TRY(const auto types, file.fields().integers("tokenizer.ggml.token_type"));
  const auto& tokens = vocabulary.tokens;
  if (types.size() != tokens.size()) return fail("{}: {} tokens have {} types", file.what(), tokens.size(), types.size());
  std::unordered_set<std::string_view> seen;
  for (size_t id = 0; id < tokens.size(); ++id) {
    const auto type = static_cast<GgufTokenType>(types[id]);
    vocabulary.types.push_back(type);
    if (type == GgufTokenType::unused) continue;
    if (std::ranges::find(may_be, type) == may_be.end()) {
      return fail("{}: token {} is of type {}, which {} does not have", file.what(), id, types[id], kind);
    }
    if (!valid_utf8(tokens[id])) return fail("{}: token {} is no UTF-8 text", file.what(), id);
    if (!seen.insert(tokens[id]).second) return fail("{}: token {} is there twice: \"{:.100}\"", file.what(), id, tokens[id]);
  }
  return vocabulary;
}

Result<json> gguf_post_processor(const GgufFile& file, bool absent) {
  constexpr std::string_view kBegin = "tokenizer.ggml.bos_token_id";
  TRY(const bool adds, file.fields().boolean_or("tokenizer.ggml.add_bos_token", absent));
  if (!adds || !file.fields().has(kBegin)) return json();
  TRY(const auto tokens, file.fields().texts("tokenizer.ggml.tokens"));
  TRY(const int64_t id, file.fields().integer(kBegin, 0, static_cast<int64_t>(tokens.size()) - 1));
  const std::string_view token = tokens[static_cast<size_t>(id)];
  if (!valid_utf8(token)) return fail("{}: token {} is no UTF-8 text", file.what(), id);
  const json begin = {{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
  const auto sequence = [](const char* which, int type) { return json{{"Sequence", {{"id", which}, {"type_id", type}}}}; };
  json special = json::object();
  special[std::string(token)] = {{"id", token}, {"ids", {id}}, {"tokens", {token}}};
  return json{{"type", "TemplateProcessing"},
              {"single", {begin, sequence("A", 0)}},
              {"pair", {begin, sequence("A", 0), begin, sequence("B", 1)}},
              {"special_tokens", special}};
}

json bpe_json(const GgufVocabulary& vocabulary, json merges, json post_processor) {
  json tokenizer = {{"version", "1.0"},
                    {"truncation", nullptr},
                    {"padding", nullptr},
                    {"added_tokens", vocabulary.added()},
                    {"normalizer", nullptr},
                    {"pre_tokenizer", nullptr},
                    {"post_processor", std::move(post_processor)},
                    {"decoder", nullptr}};
  tokenizer["model"] = {{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", nullptr},
                        {"end_of_word_suffix", nullptr},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"ignore_merges", false},
                        {"vocab", vocabulary.ids()},
                        {"merges", std::move(merges)}};
  return tokenizer;
}

bool valid_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace slipstream
