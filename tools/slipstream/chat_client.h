// Sends one question, with the conversation before it, to a running server over the OpenAI-style
// API and reads the answer as it streams. A Slipstream server also says which tokens a drafter had
// proposed (docs/design/ARCHITECTURE.md).
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

inline constexpr std::chrono::seconds kAnswerTimeout{120};  // the longest silence of the server

// The address of a server, as a user writes it: http://HOST:PORT or https://HOST:PORT.
struct ServerUrl {
  std::string host;  // IPv6 without brackets
  uint16_t port = 80;
  bool https = false;
  // Accepts HOST:PORT and HOST as well, [ADDRESS] for IPv6, and /v1 behind it, which other clients
  // want in their base URL; without a port it is 80, or 443 for https. Error: the text is no
  // address, and what one looks like.
  static Result<ServerUrl> parse(std::string_view text);
  std::string text() const;  // "http://127.0.0.1:8080"
  // For https, ca_file holds the certificates of the authorities that are trusted; empty: the
  // system's, or those of the variable SSL_CERT_FILE. silence: the longest of the server. Error: it
  // cannot be read.
  Result<http::Client> client(const std::string& ca_file = {}, std::chrono::milliseconds silence = kAnswerTimeout) const;
};

struct Message {
  std::string role;  // "user" or "assistant"
  std::string content;
};

struct Question {
  std::string text;
  std::string system;            // a message before all others; "": none
  std::vector<Message> history;  // the messages between `system` and `text`
  int tokens_max = 256;          // 0: what the context leaves
  float temperature = 0.0F;
  float top_p = 1.0F;
  std::optional<int64_t> seed;
  bool speculate = true;  // false: plain decoding, even if drafters are connected
  std::string more;       // more fields of the request, as a JSON object; "": none
  std::string rule;       // acceptance rule; "": the server's default
  std::string tuning;     // more fields of the request's `speculation` object, as a JSON object; "": none
  // true: send OpenAI's fields only, for a server that is not Slipstream; `speculate` and `rule`
  // are then not sent.
  bool standard = false;
  std::string api_key;    // "": none
  bool logprobs = false;  // ask for the text of each token with OpenAI's `logprobs` field
};

// A part of the answer's text as the server sent it; it holds whole tokens only.
struct Piece {
  std::string text;
  bool drafted = false;  // a drafter proposed it and the target accepted it
};

struct Answer {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<uint8_t> drafted;     // [ids]
  std::vector<uint8_t> depths;      // [ids] depth of the draft tree in the token's verify step; 0: no tree
  std::vector<std::string> pieces;  // [ids] text of each token; one more if the end of the answer released held-back text
  std::vector<std::string> logprob_tokens;  // filled with Question::logprobs, if the server sends them
  std::string finish;                       // "stop" or "length"
  double first_token_s = 0;                 // from sending the request to the first token
  double decode_s = 0;                      // from the first delivery to the last
  int decoded = 0;                          // tokens after the first delivery: those generated in decode_s
  double acceptance_length = 1;             // tokens per verify step, including the target's own
  std::optional<int64_t> draft_nodes;       // draft nodes verified for this answer; none: the server does not say
  int64_t accepted_nodes = 0;               // draft nodes that were accepted
  std::string rule;                         // acceptance rule that ran; "": the server does not say
  // Why the rule that ran is not the requested one, as the server words it; "": it is the requested
  // one.
  std::string why_rule;
  bool may_differ = false;           // it had near-ties, or went on elsewhere, where rows depend on each other
  std::optional<double> bias_spent;  // declared total variation; none: the server does not say
  // [ids] Upper bound on the total variation declared up to and including each token. May be
  // shorter than `ids`, or empty, if the server does not say.
  std::vector<double> spent_until;
  double tokens_per_s() const { return decode_s > 0 ? decoded / decode_s : 0; }
};

// Why a question has no whole answer.
struct AskFailure {
  std::string message;      // the server's own, if it sent one
  int status = 0;           // of HTTP; 0: no answer came; 200: the answer broke off
  std::string code;         // the server's word for it, such as "context_length_exceeded"; "": none
  std::string retry_after;  // seconds, as the server wrote them; "": it does not say
  bool stopped = false;     // `piece` wanted no more text
};

struct ServedModel {
  std::string name;
  std::string owner;  // "slipstream": the server understands Slipstream's own fields
};

// Returns the first model that the server lists.
Result<ServedModel> served_model(http::Client& client);
// The same for a command that a user typed: its error says that nothing serves at `url` and how to
// start something, or which flag is missing where the server refuses.
Result<ServedModel> find_server(http::Client& client, const ServerUrl& url);
// What the body of an error says, or which status it has if it says nothing. Of a 401 it adds which
// flag gives the key.
std::string error_message(std::string_view body, int status);
// Receives text as it arrives. Returning false stops the answer: the caller wants no more text.
using OnPiece = std::function<bool(const Piece&)>;
// Sends `question` and returns the complete answer. Error: the server's own message, a message that
// nothing listens at the address, or a message that `piece` stopped the answer.
Result<Answer> ask(http::Client& client, const std::string& model, const Question& question, const OnPiece& piece);
// The same, and `answer` keeps the part that came even if the rest did not. nullopt: it is whole.
std::optional<AskFailure> ask_into(http::Client& client, const std::string& model, const Question& question,
                                   const OnPiece& piece, Answer& answer);

}  // namespace slipstream::command
