// One answer while it is written: tokens come in, and text goes out to one HTTP exchange.
// Threads: it is constructed on the text thread; from then on only the loop's thread uses it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/http/server.h"
#include "common/text/detokenizer.h"
#include "common/text/stop_strings.h"
#include "services/router/http_api/chat_request.h"
#include "services/router/http_api/completion_json.h"
#include "services/router/request.h"

namespace slipstream {

class Answer {
 public:
  Answer(http::Exchange exchange, const ChatRequest& request, CompletionHead head, int32_t prompt_tokens, Tokenizer tokenizer);

  enum class Next : uint8_t {
    more,             // tokens are awaited
    done,             // the answer is out
    abandon_stopped,  // the answer ended at a stop string: the router must stop working on it
    abandon_failed,   // the answer is an error: the router must stop working on it
  };
  Next deliver(const Delivery& delivery, uint16_t draft_nodes_max);
  // Begins the stream, or goes on with a comment, which clients skip: proxies and browsers then see
  // that the answer is coming. A whole answer has nothing to send yet.
  void still_here();
  // Sends an HTTP status before the stream has begun, and an error event without [DONE] after it.
  void fail(const Failure& failure);

 private:
  Result<void> read(const Delivery& delivery);  // tokens to piece_
  void begin_stream();
  void write_chunks(const CompletionJson& json, bool ended);
  CompletionJson::ChunkUsage chunk_usage() const;
  std::string note() const;
  void show(std::string piece);
  void tell_logprob(TokenId id, const TokenLogprob& logprob);
  Facts facts() const { return {tell_tokens_ ? &tokens_ : nullptr, tell_logprobs_ ? &logprobs_ : nullptr}; }

  http::Exchange exchange_;
  CompletionHead head_;
  Usage usage_;
  bool stream_, include_usage_, continuous_usage_, tell_tokens_, tell_logprobs_;
  int32_t min_tokens_;  // no stop string begins in the text of the first min_tokens_ tokens
  Tokenizer tokenizer_;
  Detokenizer detokenizer_;
  StopStrings stops_;

  bool begun_ = false;                  // the stream has begun
  bool role_told_ = false;              // its first chunk is out
  std::string reason_;                  // "stop" or "length"; "": the answer goes on
  std::string text_;                    // the whole text; when streaming, that of this delivery
  TokenFacts tokens_;                   // of the same part of the answer, if asked for
  std::vector<LogprobFacts> logprobs_;  // of the same part of the answer, if asked for
};

}  // namespace slipstream
