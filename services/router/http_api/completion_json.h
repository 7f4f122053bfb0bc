// Writes the JSON of answers: OpenAI's chat.completion and chat.completion.chunk, with vLLM's
// `metrics.speculative_decoding` and the `slipstream` object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "services/router/request.h"

namespace slipstream {

struct CompletionHead {  // the same in every chunk of one answer
  std::string id;        // "chatcmpl-..."
  int64_t created = 0;   // Unix seconds
  std::string model;
  int64_t seed = 0;  // from the client or chosen by the server
  bool speculates = true;
  std::vector<std::string> warnings = {};  // of the request, told with the answer's end
};

struct Usage {
  int32_t prompt_tokens = 0, completion_tokens = 0;
  uint32_t guessed_tokens = 0;  // of the completion tokens, those that a drafter had guessed
};

// `slipstream`: {"token_ids", "drafted", "depths", "pieces"}, if the request asked for tokens. The
// pieces together are the text.
struct TokenFacts {
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;     // [ids] 1: a drafter had guessed it
  std::vector<uint8_t> depths;      // [ids] of the draft tree of the token's step; 0: it had none
  std::vector<std::string> pieces;  // [ids] the text that became final with each; one more if the end made some text final
};

// One entry of `choices[].logprobs.content`.
struct LogprobFacts {
  struct Token {
    std::string bytes;
    float logprob = 0;
  };
  Token token;
  std::vector<Token> top;
};

// What an answer carries beside its text; null: the client did not ask for it.
struct Facts {
  const TokenFacts* tokens = nullptr;
  const std::vector<LogprobFacts>* logprobs = nullptr;
};

class CompletionJson {
 public:
  // For an answer up to this delivery. head and delivery outlive the object.
  CompletionJson(const CompletionHead& head, const Delivery& delivery, uint16_t draft_nodes_max)
      : head_(head), delivery_(delivery), draft_nodes_max_(draft_nodes_max) {}

  enum class UsageField : uint8_t { absent, null, given };  // OpenAI sends null where the last chunk has the usage
  struct ChunkUsage {
    UsageField field = UsageField::absent;
    Usage usage;  // so far
  };
  std::string role(const ChunkUsage& usage) const;  // the first chunk
  std::string text(std::string_view piece, const Facts& facts, const ChunkUsage& usage) const;
  // The last chunk with a choice. last: usage() does not follow.
  std::string finish(std::string_view reason, const ChunkUsage& usage, bool last) const;
  std::string usage(const Usage& usage) const;  // the chunk after finish(), without choices
  std::string whole(std::string_view text, std::string_view reason, const Usage& usage, const Facts& facts) const;

 private:
  const CompletionHead& head_;
  const Delivery& delivery_;
  uint16_t draft_nodes_max_;
};

}  // namespace slipstream
