// Asks a running server one question and reads its answer token by token, over the OpenAI-style
// API. A Slipstream server also says which tokens a drafter had guessed
// (docs/design/ARCHITECTURE.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/http/client.h"

namespace slipstream::command {

inline constexpr std::chrono::seconds kAnswerTimeout{120};  // without a word from the server

// Where a server is, as a user writes it: http://HOST:PORT.
struct ServerUrl {
  std::string host;
  uint16_t port = 80;
  static Result<ServerUrl> parse(std::string_view text);
};

struct Question {
  std::string text;
  int tokens_max = 256;
  float temperature = 0.0F;
  float top_p = 1.0F;
  std::optional<int64_t> seed;
  bool speculate = true;  // false: plain decoding, whatever drafters there are
  std::string more;       // further fields of the request, as a JSON object; "": none
  std::string rule;       // of acceptance; empty: the server's own choice
  std::string tuning;     // further fields of its `speculation`, likewise
  bool standard = false;  // only OpenAI's own fields: the server is no Slipstream; `speculate` and `rule` are not sent
  bool logprobs = false;  // ask for the text of each token in the standard way
};

// Text as it came, whole tokens only.
struct Piece {
  std::string text;
  bool drafted = false;  // a drafter had guessed it and the target agreed
};

struct Answer {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<uint8_t> drafted;             // [ids]
  std::vector<uint8_t> depths;              // [ids] of the tree that its step judged; 0: none
  std::vector<std::string> pieces;          // [ids], the text of each; one more if the end freed text
  std::vector<std::string> logprob_tokens;  // with Question::logprobs, where the server gives them
  std::string finish;                       // "stop", "length"
  double first_token_s = 0;                 // since the request was sent
  double decode_s = 0;                      // from the first tokens to the last
  int decoded = 0;                          // tokens after the first delivery, in decode_s
  double acceptance_length = 1;             // tokens per verify step, the target's own included
  std::optional<int64_t> draft_nodes;       // that steps judged for it; none: it does not say
  int64_t accepted_nodes = 0;               // and found right
  std::string rule;                         // of acceptance, that ran; empty: it does not say
  std::string why_rule;                     // why it is not the one that was asked for, in the server's word; empty: it is
  std::optional<double> bias_spent;         // total variation that it declares; none: it does not say
  std::vector<double> spent_until;          // [ids] likewise up to each token at most; shorter: it does not say
  double tokens_per_s() const { return decode_s > 0 ? decoded / decode_s : 0; }
};

struct ServedModel {
  std::string name;
  std::string owner;  // "slipstream": it understands our fields
};

// The first model that the server names.
Result<ServedModel> served_model(http::Client& client);
// Gets text as it comes; false: enough, the rest is not wanted.
using OnPiece = std::function<bool(const Piece&)>;
// Error: the server's own message, that nobody answers, or that `piece` ended it.
Result<Answer> ask(http::Client& client, const std::string& model, const Question& question, const OnPiece& piece);

}  // namespace slipstream::command
