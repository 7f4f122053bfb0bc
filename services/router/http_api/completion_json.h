// Writes the JSON of answers: OpenAI's chat.completion and chat.completion.chunk, and its older
// text_completion, with vLLM's `metrics.speculative_decoding` and the `slipstream` object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "services/router/request.h"

namespace slipstream {

class Choice;

enum class ApiKind : uint8_t { chat, text };  // /v1/chat/completions, /v1/completions

struct CompletionHead {  // the same in every chunk of one answer
  ApiKind kind = ApiKind::chat;
  std::string id;       // "chatcmpl-..." or "cmpl-..."
  int64_t created = 0;  // Unix seconds
  std::string model;
  int64_t seed = 0;  // from the client or chosen by the server
  bool speculates = true;
  std::vector<std::string> warnings = {};  // of the request, told with the answer's end
};

struct Usage {
  int32_t prompt_tokens = 0, completion_tokens = 0;
  uint32_t guessed_tokens = 0;  // of the completion tokens, those that a drafter had guessed
};

// What all choices of an answer have used.
struct Totals {
  Usage usage;
  SpeculationReport report = {};
  AcceptanceHistogram histogram = {};

  // Of one choice. computed_its_prompt: it was the first one of its prompt.
  void add(const Delivery& newest, bool computed_its_prompt);
};

// `slipstream`: {"token_ids", "drafted", "depths", "pieces"}, if the request asked for tokens. The
// pieces together are the text.
struct TokenFacts {
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;     // [ids] 1: a drafter had guessed it
  std::vector<uint8_t> depths;      // [ids] of the draft tree of the token's step; 0: it had none
  std::vector<std::string> pieces;  // [ids] the text that became final with each; one more if the end made some text final
};

// A token with its logprob and its likeliest alternatives.
struct LogprobFacts {
  struct Token {
    std::string bytes;
    float logprob = 0;
  };
  Token token;
  std::vector<Token> top;
  int32_t offset = 0;  // characters of the choice's text before it
};

// What an answer carries beside its text; null: the client did not ask for it.
struct Facts {
  const TokenFacts* tokens = nullptr;
  const std::vector<LogprobFacts>* logprobs = nullptr;
};

class CompletionJson {
 public:
  // head outlives the object.
  CompletionJson(const CompletionHead& head, uint16_t draft_nodes_max) : head_(head), draft_nodes_max_(draft_nodes_max) {}

  enum class UsageField : uint8_t { absent, null, given };  // OpenAI sends null where the last chunk has the usage
  struct ChunkUsage {
    UsageField field = UsageField::absent;
    Usage usage;  // so far, of all choices
  };
  // Chunks of the choice with this index.
  std::string role(int index, const Choice& choice, const ChunkUsage& usage) const;  // its first one; chats only
  std::string text(int index, const Choice& choice, const ChunkUsage& usage) const;
  std::string finish(int index, const Choice& choice, const ChunkUsage& usage, bool tell_speculation) const;  // its last one

  std::string usage(const Choice& last, const Totals& totals) const;  // the chunk after all others, without choices
  std::string whole(std::span<const Choice* const> choices, const Totals& totals) const;

 private:
  const CompletionHead& head_;
  uint16_t draft_nodes_max_;
};

}  // namespace slipstream
