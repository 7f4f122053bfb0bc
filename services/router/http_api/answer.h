// One answer while it is written: tokens of its choices come in, and what its API's format makes of
// them goes out to one HTTP exchange, whole or as a stream.
// Threads: constructed on the text thread; from then on only the loop's thread uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/http/server.h"
#include "services/router/http_api/answer_format.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/choice.h"
#include "services/router/http_api/field_names.h"
#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/key_use.h"
#include "services/router/request.h"

namespace slipstream {

class Answer {
 public:
  struct Voice {     // of the API that the request came by
    std::string id;  // of the answer, for the log
    std::unique_ptr<AnswerFormat> format;
    FieldNames names;
    KeyUse::Pass pass = {};  // the answer holds it
  };
  // prompt_tokens: of all prompts together.
  Answer(http::Exchange exchange, const GenerationRequest& request, Voice voice, int32_t prompt_tokens);

  // Before the first delivery. submits: the first choice of a prompt, and those that begin when its
  // prompt is computed, so that they find it in the prefix cache. echo: text before each of them.
  void add(std::vector<Submit> submits, const GenerationRequest& request, const Tokenizer& tokenizer, const std::string& echo);

  enum class Next : uint8_t {
    more,             // tokens of this choice are awaited
    done,             // this choice is over
    abandon_stopped,  // this choice ended at a stop string: the router must stop working on it
    abandon_failed,   // the whole answer is an error: the router must stop working on all its choices
  };
  Next deliver(Delivery delivery);
  // Begins the stream, or shows that it is awake: proxies and browsers then see that the answer is
  // coming. A whole answer has nothing to send yet.
  void still_here();
  // Sends an HTTP status before the stream has begun, and after it ends it as its API does. Nothing
  // may follow.
  void fail(ApiError error);

  // The choices that begin now that this one has begun; each is given once.
  std::vector<Submit> followers_of(RequestId request);
  std::vector<RequestId> requests() const;  // of all choices

 private:
  struct Part {
    RequestId request = 0;
    Choice choice;
    std::vector<Submit> followers = {};  // that have not begun
  };
  void begin_stream(const AnswerState& state);
  void write_news(int index, const AnswerState& state);
  AnswerState state() const;
  void keep_best(AnswerState& state) const;
  std::string note() const;

  http::Exchange exchange_;
  Voice voice_;
  int32_t prompt_tokens_;
  bool stream_;
  int choices_, best_;  // of each prompt: generated; told, 0: all
  std::shared_ptr<const StopAutomaton> stops_;
  std::vector<Part> parts_;  // by the index of their choice
  bool begun_ = false;       // the stream has begun
  int silent_ = 0;           // deliveries since the newest byte
};

}  // namespace slipstream
