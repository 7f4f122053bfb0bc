#include "common/checkpoint/gguf/tokenizer.h"

#include <nlohmann/json.hpp>

#include "common/checkpoint/gguf/sentence_piece.h"
#include "common/checkpoint/gguf/tokenizer_parts.h"

namespace slipstream {
namespace {

using nlohmann::json;

constexpr GgufTokenType kByteLevelTypes[] = {GgufTokenType::normal, GgufTokenType::control, GgufTokenType::user_defined};

struct PreTokenizer {
  std::string_view name;   // tokenizer.ggml.pre
  const char* normalizer;  // JSON
  const char* steps;       // JSON
  bool ignore_merges;      // a word that is in the vocabulary becomes that token without the merges
  bool begins;             // with the beginning-of-sequence token, unless the file says otherwise
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

Result<json> merges_of(const GgufFile& file) {
  TRY(const auto merges, file.fields().texts("tokenizer.ggml.merges"));
  json pairs = json::array();
  for (const std::string_view merge : merges) {
    const size_t space = merge.find(' ');
    if (space == merge.npos || space == 0 || merge.find(' ', space + 1) != merge.npos || space + 1 == merge.size() ||
        !valid_utf8(merge)) {
      return fail("{}: merge {} is no pair of tokens: \"{:.100}\"", file.what(), pairs.size(), valid_utf8(merge) ? merge : "");
    }
    pairs.push_back({merge.substr(0, space), merge.substr(space + 1)});
  }
  return pairs;
}

Result<json> byte_level_json(const GgufFile& file) {
  TRY(const PreTokenizer* pre, pre_tokenizer_of(file));
  TRY(const GgufVocabulary vocabulary, read_gguf_vocabulary(file, kByteLevelTypes, "a byte-level BPE"));
  TRY(json merges, merges_of(file));
  TRY(json post_processor, gguf_post_processor(file, pre->begins));
  json tokenizer = bpe_json(vocabulary, std::move(merges), std::move(post_processor));
  tokenizer["normalizer"] = json::parse(pre->normalizer);
  tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", json::parse(pre->steps)}};
  // The decoder of all byte-level BPEs; its options change nothing when it decodes.
  tokenizer["decoder"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  tokenizer["model"]["ignore_merges"] = pre->ignore_merges;
  return tokenizer;
}

}  // namespace

Result<std::string> gguf_tokenizer_json(const GgufFile& file) {
  TRY(const std::string_view kind, file.fields().text("tokenizer.ggml.model"));
  if (kind != "gpt2" && kind != "llama") {
    return fail(
        "{}: its tokenizer is of kind \"{:.100}\"; gpt2 (byte-level BPE) and llama (SentencePiece) are supported: use a "
        "model of those",
        file.what(), kind);
  }
  TRY(const json tokenizer, kind == "gpt2" ? byte_level_json(file) : sentence_piece_json(file));
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
  if (!valid_utf8(chat_template)) return fail("{}: tokenizer.chat_template is no UTF-8 text", file.what());
  json config = {{"chat_template", chat_template}};
  TRY(const auto tokens, fields.texts("tokenizer.ggml.tokens"));
  static constexpr std::pair<const char*, const char*> kNamed[] = {
      {"bos", "bos_token"}, {"eos", "eos_token"}, {"unknown", "unk_token"}, {"padding", "pad_token"}};
  for (const auto& [gguf, hugging_face] : kNamed) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", gguf);
    if (!fields.has(key)) continue;
    TRY(const int64_t id, fields.integer(key, 0, static_cast<int64_t>(tokens.size()) - 1));
    if (!valid_utf8(tokens[static_cast<size_t>(id)])) return fail("{}: token {} is no UTF-8 text", file.what(), id);
    config[hugging_face] = tokens[static_cast<size_t>(id)];
  }
  return config.dump();
}

}  // namespace slipstream
