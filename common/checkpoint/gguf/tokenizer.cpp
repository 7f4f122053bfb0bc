#include "common/checkpoint/gguf/tokenizer.h"

#include <simdjson.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

using nlohmann::json;

// tokenizer.ggml.token_type.
enum TokenType : int64_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

struct PreTokenizer {
  std::string_view name;   // tokenizer.ggml.pre
  const char* normalizer;  // JSON
  const char* steps;       // JSON
  bool ignore_merges;      // a word that is in the vocabulary becomes that token without the merges
};
// The patterns of Llama 3 and Qwen2 differ in how many digits stay together: up to 3, and 1. SmolLM
// splits off each digit, and then splits as GPT-2 does.
constexpr PreTokenizer kPreTokenizers[] = {
    {"llama-bpe", "null",
     R"json([{"type": "Split", "behavior": "Isolated", "invert": false, "pattern": {"Regex":
       "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}])json",
     true},
    {"qwen2", R"({"type": "NFC"})",
     R"json([{"type": "Split", "behavior": "Isolated", "invert": false, "pattern": {"Regex":
       "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}])json",
     false},
    {"smollm", "null",
     R"json([{"type": "Digits", "individual_digits": true},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}])json",
     false},
};

Result<const PreTokenizer*> pre_tokenizer_of(const GgufFile& file) {
  TRY(const std::string_view kind, file.fields().text("tokenizer.ggml.model"));
  if (kind != "gpt2") {
    return fail("{}: its tokenizer is of kind \"{:.100}\"; only gpt2 (byte-level BPE) is supported: use a model of that kind",
                file.what(), kind);
  }
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
  json ids = json::object();   // token -> id
  json added = json::array();  // tokens that are found in a text before it is split into words
};

Result<Vocabulary> vocabulary_of(const GgufFile& file) {
  TRY(const auto tokens, file.fields().texts("tokenizer.ggml.tokens"));
  TRY(const auto types, file.fields().integers("tokenizer.ggml.token_type"));
  if (types.size() != tokens.size()) return fail("{}: {} tokens have {} types", file.what(), tokens.size(), types.size());
  Vocabulary vocabulary;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (types[id] == kUnused) continue;
    if (types[id] != kNormal && types[id] != kControl && types[id] != kUserDefined) {
      return fail("{}: token {} is of type {}, which a byte-level BPE does not have", file.what(), id, types[id]);
    }
    if (!utf8(tokens[id])) return fail("{}: token {} is no UTF-8 text", file.what(), id);
    if (!vocabulary.ids.emplace(tokens[id], id).second) {
      return fail("{}: token {} is there twice: \"{:.100}\"", file.what(), id, tokens[id]);
    }
    if (types[id] == kNormal) continue;
    vocabulary.added.push_back({{"id", id},
                                {"content", tokens[id]},
                                {"single_word", false},
                                {"lstrip", false},
                                {"rstrip", false},
                                {"normalized", false},
                                {"special", types[id] == kControl}});
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

}  // namespace

Result<std::string> gguf_tokenizer_json(const GgufFile& file) {
  TRY(const PreTokenizer* pre, pre_tokenizer_of(file));
  TRY(Vocabulary vocabulary, vocabulary_of(file));
  TRY(json merges, merges_of(file));
  // The decoder of all byte-level BPEs; its options change nothing when it decodes.
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  json tokenizer = {{"version", "1.0"},
                    {"truncation", nullptr},
                    {"padding", nullptr},
                    {"added_tokens", std::move(vocabulary.added)},
                    {"normalizer", json::parse(pre->normalizer)},
                    {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json::parse(pre->steps)}}},
                    {"post_processor", nullptr},
                    {"decoder", byte_level}};
  tokenizer["model"] = {{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", nullptr},
                        {"end_of_word_suffix", nullptr},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"ignore_merges", pre->ignore_merges},
                        {"vocab", std::move(vocabulary.ids)},
                        {"merges", std::move(merges)}};
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
