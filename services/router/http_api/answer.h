// One answer in the making: tokens in, text out, to one HTTP exchange. Made on the text thread,
// then used by the loop's only.
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
    abandon_failed,   // the answer is an error: the same
  };
  Next deliver(const Delivery& delivery, uint16_t draft_nodes_max);
  // Before the first token an HTTP status; after it an error event, and no [DONE].
  void fail(const Failure& failure);

 private:
  Result<void> read(const Delivery& delivery);  // tokens to piece_
  void write_chunks(const CompletionJson& json, bool ended);
  CompletionJson::ChunkUsage chunk_usage() const;
  void show(std::string piece);
  void tell_logprob(TokenId id, const TokenLogprob& logprob);
  Facts facts() const { return {tell_tokens_ ? &tokens_ : nullptr, tell_logprobs_ ? &logprobs_ : nullptr}; }

  http::Exchange exchange_;
  CompletionHead head_;
  Usage usage_;
  bool stream_, include_usage_, continuous_usage_, tell_tokens_, tell_logprobs_;
  int32_t min_tokens_;  // no stop string begins in the text of the first so many
  Tokenizer tokenizer_;
  Detokenizer detokenizer_;
  StopStrings stops_;

  bool begun_ = false;                  // the stream is
  std::string reason_;                  // "stop", "length"; "": goes on
  std::string text_;                    // all of it, or what came with this delivery when streaming
  TokenFacts tokens_;                   // the same of the tokens, if asked for
  std::vector<LogprobFacts> logprobs_;  // likewise
};

}  // namespace slipstream
