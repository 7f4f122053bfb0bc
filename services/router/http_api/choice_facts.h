// What an answer may carry beside its text, of one choice. Plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "services/router/http_api/tree_facts.h"

namespace slipstream {

// `slipstream`: {"token_ids", "drafted", "depths", "pieces", "ranks"}, if the request asked for
// tokens. The pieces together are the text.
struct TokenFacts {
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;     // [ids] 1: a drafter had guessed it
  std::vector<uint8_t> depths;      // [ids] of the draft tree of the token's step; 0: it had none
  std::vector<int32_t> ranks;       // [ids] place among all tokens, the likeliest is 1; empty: no logprobs were asked for
  std::vector<std::string> pieces;  // [ids] the text that became final with each; one more if the end made some text final
};

// A token with its logprob and its likeliest alternatives.
struct LogprobFacts {
  struct Token {
    std::string bytes;
    float logprob = 0;
    TokenId id = -1;
  };
  Token token;
  std::vector<Token> top = {};
  int32_t rank = 0;     // of the token among all, from 1 on; 0: not known
  int32_t offset = 0;   // characters of the choice's text before it
  size_t text_end = 0;  // of a text's logprobs: bytes of the choice's new text that end with it
};

// null: the client did not ask for it.
struct Facts {
  const TokenFacts* tokens = nullptr;
  const std::vector<LogprobFacts>* logprobs = nullptr;
  const std::vector<LogprobFacts>* prompt = nullptr;  // of the prompt's tokens; the first has no logprob
  const std::vector<LogprobFacts>* text = nullptr;    // of the tokens that are new text
  const std::vector<TreeFacts>* trees = nullptr;      // the newest, as many as were asked for
};

// Characters of UTF-8 text, or of a part of it: a character counts where its first byte is.
inline int32_t characters_of(std::string_view bytes) {
  return static_cast<int32_t>(std::ranges::count_if(bytes, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace slipstream
