#include "common/checkpoint/gguf/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <simdjson.h>
#include <nlohmann/json.hpp>

#include "common/checkpoint/gguf/sentencepiece.h"

namespace slipstream {
namespace {

using nlohmann::json;

// tokenizer.ggml.token_type.
enum TokenType : int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// tokenizer.ggml.model.
constexpr std::string_view kByteLevelKind = "gpt2", kSentencePieceKind = "llama";

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, which SentencePiece writes for a space

struct PreTokenizer {
  std::string_view name;   // tokenizer.ggml.pre
  const char* normalizer;  // JSON
  const char* steps;       // JSON
  bool ignore_merges;      // a word that is in the vocabulary becomes that token without the merges
  bool adds_bos;           // where tokenizer.ggml.add_bos_token is absent
};
// The patterns of Llama 3 and Qwen2 differ in how many digits stay together: up to 3, and 1. SmolLM
// splits off each digit, and then splits as GPT-2 does.
constexpr PreTokenizer kPreTokenizers[] = {
    {"llama-bpe", "null",
     R"json([{"type": "Split", "behavior": "Isolated", "invert": false, "pattern": {"Regex":
       "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}])json",
     true, true},
    {"qwen2", R"({"type": "NFC"})",
     R"json([{"type": "Split", "behavior": "Isolated", "invert": false, "pattern": {"Regex":
       "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}])json",
     false, false},
    {"smollm", "null",
     R"json([{"type": "Digits", "individual_digits": true},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}])json",
     false, false},
};

Result<const PreTokenizer*> pre_tokenizer_of(const GgufFile& file) {
  TRY(const std::string_view name, file.fields().text("tokenizer.ggml.pre"));
  for (const PreTokenizer& known : kPreTokenizers) {
    if (known.name == name) return &known;
  }
  return fail(
      "{}: its pre-tokenizer \"{:.100}\" is not known here; llama-bpe, qwen2 and smollm are: give the model's Hugging Face "
      "folder, whose tokenizer.json says how it works",
      file.what(), name);
}

bool utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

struct Vocabulary {
  std::vector<std::string_view> tokens;
  std::vector<int64_t> types;
  json ids = json::object();   // token -> id
  json added = json::array();  // tokens that are found in a text before it is split into words
};

// allowed: types besides normal, control, user-defined and unused ones. kind: for errors.
Result<Vocabulary> vocabulary_of(const GgufFile& file, std::span<const int64_t> allowed, std::string_view kind) {
  Vocabulary vocabulary;
  TRY(vocabulary.tokens, file.fields().texts("tokenizer.ggml.tokens"));
  TRY(vocabulary.types, file.fields().integers("tokenizer.ggml.token_type"));
  const auto& [tokens, types, ids, added] = vocabulary;
  if (types.size() != tokens.size()) return fail("{}: {} tokens have {} types", file.what(), tokens.size(), types.size());
  for (size_t id = 0; id < tokens.size(); ++id) {
    const int64_t type = types[id];
    if (type == kUnused) continue;
    const bool found_in_texts = type == kControl || type == kUserDefined || type == kUnknown;
    if (type != kNormal && type != kControl && type != kUserDefined && std::ranges::find(allowed, type) == allowed.end()) {
      return fail("{}: token {} is of type {}, which a {} does not have", file.what(), id, type, kind);
    }
    if (!utf8(tokens[id])) return fail("{}: token {} is no UTF-8 text", file.what(), id);
    if (!vocabulary.ids.emplace(tokens[id], id).second) {
      return fail("{}: token {} is there twice: \"{:.100}\"", file.what(), id, tokens[id]);
    }
    if (!found_in_texts) continue;
    vocabulary.added.push_back({{"id", id},
                                {"content", tokens[id]},
                                {"single_word", false},
                                {"lstrip", false},
                                {"rstrip", false},
                                {"normalized", false},
                                {"special", type != kUserDefined}});
  }
  return vocabulary;
}

Result<json> merges_of(const GgufFile& file) {
  TRY(const auto merges, file.fields().texts("tokenizer.ggml.merges"));
  json pairs = json::array();
  for (const std::string_view merge : merges) {
    const size_t space = merge.find(' ');
    if (space == merge.npos || space == 0 || merge.find(' ', space + 1) != merge.npos || space + 1 == merge.size() ||
        !utf8(merge)) {
      return fail("{}: merge {} is no pair of tokens: \"{:.100}\"", file.what(), pairs.size(), utf8(merge) ? merge : "");
    }
    pairs.push_back({merge.substr(0, space), merge.substr(space + 1)});
  }
  return pairs;
}

// Puts the token that begins a sequence before a text, as the model was trained. adds: where
// tokenizer.ggml.add_bos_token is absent.
Result<json> post_processor_of(const GgufFile& file, const Vocabulary& vocabulary, bool adds) {
  const GgufFields& fields = file.fields();
  constexpr std::string_view kAdd = "tokenizer.ggml.add_bos_token", kId = "tokenizer.ggml.bos_token_id";
  TRY(const bool asked, fields.boolean_or(kAdd, adds));
  if (!asked || (!fields.has(kAdd) && !fields.has(kId))) return json(nullptr);
  TRY(const int64_t id, fields.integer(kId, 0, static_cast<int64_t>(vocabulary.tokens.size()) - 1));
  const std::string_view bos = vocabulary.tokens[static_cast<size_t>(id)];
  if (!utf8(bos)) return fail("{}: token {} is no UTF-8 text", file.what(), id);
  const json begin = {{"SpecialToken", {{"id", bos}, {"type_id", 0}}}};
  const auto text = [](const char* name, int type) { return json{{"Sequence", {{"id", name}, {"type_id", type}}}}; };
  json post_processor = {{"type", "TemplateProcessing"}};
  post_processor["single"] = json::array({begin, text("A", 0)});
  post_processor["pair"] = json::array({begin, text("A", 0), text("B", 1)});
  post_processor["special_tokens"][std::string(bos)] = {{"id", bos}, {"ids", {id}}, {"tokens", {bos}}};
  return post_processor;
}

// The members that all tokenizer.json files have, for the callers to fill in.
json tokenizer_of(Vocabulary& vocabulary) {
  json tokenizer = {{"version", "1.0"},         {"truncation", nullptr},     {"padding", nullptr}, {"normalizer", nullptr},
                    {"pre_tokenizer", nullptr}, {"post_processor", nullptr}, {"decoder", nullptr}};
  tokenizer["added_tokens"] = std::move(vocabulary.added);
  tokenizer["model"] = {{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", nullptr},
                        {"end_of_word_suffix", nullptr},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"ignore_merges", false},
                        {"vocab", std::move(vocabulary.ids)}};
  return tokenizer;
}

Result<json> byte_level_json(const GgufFile& file) {
  TRY(const PreTokenizer* pre, pre_tokenizer_of(file));
  TRY(Vocabulary vocabulary, vocabulary_of(file, {}, "byte-level BPE"));
  TRY(json merges, merges_of(file));
  json tokenizer = tokenizer_of(vocabulary);
  tokenizer["normalizer"] = json::parse(pre->normalizer);
  tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", json::parse(pre->steps)}};
  TRY(tokenizer["post_processor"], post_processor_of(file, vocabulary, pre->adds_bos));
  // The decoder of all byte-level BPEs; its options change nothing when it decodes.
  tokenizer["decoder"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  tokenizer["model"]["ignore_merges"] = pre->ignore_merges;
  tokenizer["model"]["merges"] = std::move(merges);
  return tokenizer;
}

// "<0x0A>", by which the tokenizers library finds the token of a byte.
bool names_byte(std::string_view token) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return token.size() == 6 && token.starts_with("<0x") && hex(token[3]) && hex(token[4]) && token[5] == '>';
}

// The pieces that texts are made of. The text of all other tokens means nothing in a text.
Result<std::vector<ScoredPiece>> pieces_of(const GgufFile& file, const Vocabulary& vocabulary) {
  TRY(const auto scores, file.fields().numbers("tokenizer.ggml.scores"));
  const auto& tokens = vocabulary.tokens;
  if (scores.size() != tokens.size()) return fail("{}: {} tokens have {} scores", file.what(), tokens.size(), scores.size());
  std::vector<ScoredPiece> pieces;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (vocabulary.types[id] == kByte && !names_byte(tokens[id])) {
      return fail("{}: token {} stands for a byte and is none of <0x00> to <0xFF>: \"{:.100}\"", file.what(), id, tokens[id]);
    }
    if (vocabulary.types[id] != kNormal) continue;
    if (!std::isfinite(scores[id])) return fail("{}: the score of token {} is no number", file.what(), id);
    if (tokens[id].size() > kPieceBytesMax) {
      return fail("{}: token {} has {} bytes, the limit is {}", file.what(), id, tokens[id].size(), kPieceBytesMax);
    }
    pieces.push_back({tokens[id], scores[id]});
  }
  return pieces;
}

Result<json> sentencepiece_json(const GgufFile& file) {
  static constexpr int64_t kAllowed[] = {kUnknown, kByte};
  TRY(Vocabulary vocabulary, vocabulary_of(file, kAllowed, "SentencePiece BPE"));
  TRY(const auto pieces, pieces_of(file, vocabulary));
  TRY(const bool space_before, file.fields().boolean_or("tokenizer.ggml.add_space_prefix", true));
  json tokenizer = tokenizer_of(vocabulary);
  json normalizers = json::array(), decoders = json::array();
  if (space_before) normalizers.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
  normalizers.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpace}});
  decoders.push_back({{"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}});
  decoders.push_back({{"type", "ByteFallback"}});
  decoders.push_back({{"type", "Fuse"}});
  if (space_before) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  tokenizer["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(normalizers)}};
  tokenizer["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(decoders)}};
  TRY(tokenizer["post_processor"], post_processor_of(file, vocabulary, true));
  json& model = tokenizer["model"];
  const auto unknown = std::ranges::find(vocabulary.types, int64_t{kUnknown});
  if (unknown != vocabulary.types.end()) {
    model["unk_token"] = vocabulary.tokens[static_cast<size_t>(unknown - vocabulary.types.begin())];
  }
  constexpr size_t kBytes = 256;
  const auto bytes = static_cast<size_t>(std::ranges::count(vocabulary.types, int64_t{kByte}));
  if (unknown == vocabulary.types.end() && bytes < kBytes) {
    return fail("{}: it has no unknown token and {} of {} byte tokens: some characters would be left out of texts", file.what(),
                bytes, kBytes);
  }
  model["fuse_unk"] = true;
  model["byte_fallback"] = true;
  model["merges"] = json::array();
  for (const auto& [left, right] : sentencepiece_merges(pieces)) model["merges"].push_back({left, right});
  return tokenizer;
}

}  // namespace

Result<std::string> gguf_tokenizer_json(const GgufFile& file) {
  TRY(const std::string_view kind, file.fields().text("tokenizer.ggml.model"));
  if (kind != kByteLevelKind && kind != kSentencePieceKind) {
    return fail(
        "{}: its tokenizer is of kind \"{:.100}\"; gpt2 (byte-level BPE) and llama (SentencePiece BPE) are supported: use a "
        "model of such a kind",
        file.what(), kind);
  }
  TRY(const json tokenizer, kind == kByteLevelKind ? byte_level_json(file) : sentencepiece_json(file));
  return tokenizer.dump();
}

Result<std::string> gguf_tokenizer_config(const GgufFile& file) {
  const GgufFields& fields = file.fields();
  if (!fields.has("tokenizer.chat_template")) {
    return fail(
        "{} has no tokenizer.chat_template, so nobody knows how a chat with it is written: take the model's instruct version",
        file.what());
  }
  TRY(const std::string_view chat_template, fields.text("tokenizer.chat_template"));
  if (!utf8(chat_template)) return fail("{}: tokenizer.chat_template is no UTF-8 text", file.what());
  json config = {{"chat_template", chat_template}};
  TRY(const auto tokens, fields.texts("tokenizer.ggml.tokens"));
  static constexpr std::pair<const char*, const char*> kNamed[] = {
      {"bos", "bos_token"}, {"eos", "eos_token"}, {"unknown", "unk_token"}, {"padding", "pad_token"}};
  for (const auto& [gguf, hugging_face] : kNamed) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", gguf);
    if (!fields.has(key)) continue;
    TRY(const int64_t id, fields.integer(key, 0, static_cast<int64_t>(tokens.size()) - 1));
    if (!utf8(tokens[static_cast<size_t>(id)])) return fail("{}: token {} is no UTF-8 text", file.what(), id);
    config[hugging_face] = tokens[static_cast<size_t>(id)];
  }
  return config.dump();
}

}  // namespace slipstream
