// What an answer may carry beside its text, of one choice. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

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

// null: the client did not ask for it.
struct Facts {
  const TokenFacts* tokens = nullptr;
  const std::vector<LogprobFacts>* logprobs = nullptr;
};

}  // namespace slipstream
