// How one API writes an answer: whole, or as a stream. Each API of a client (chat completions,
// completions, responses, messages, Ollama's) is a reader (asked.h) and a format; all that lies
// between them is the same for all.
//
// A format belongs to one answer and may remember what it has written. Calls, in order:
//
//   whole()                                   a whole answer, once all its choices have ended
//   begin() (news() | awake())* [failure()]   a stream; nothing follows the news that end the answer
//
// Not thread-safe: constructed on the text thread, then only the loop's thread uses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/router/http_api/answer_state.h"
#include "services/router/http_api/api_error.h"

namespace slipstream {

class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;

  virtual ErrorShape error_shape() const { return ErrorShape::openai; }
  virtual std::string_view stream_type() const { return "text/event-stream"; }

  // Tokens have come, of which the next call may write. For formats that tell times.
  virtual void tokens_came() {}

  // The JSON of a whole answer.
  virtual std::string whole(const AnswerState& state) = 0;

  // The bytes of a stream; empty: there is nothing to write now.
  virtual std::string begin(const AnswerState& state);                // before all others
  virtual std::string news(int index, const AnswerState& state) = 0;  // of the choice with this index, since it was last told
  virtual std::string awake();                                        // shows that the answer is coming
  virtual std::string failure(const ApiError& error, const AnswerState& state) = 0;  // the stream ends in the middle
};

// A server-sent event, with the name that some APIs give it.
std::string event(std::string_view data);
std::string event(std::string_view name, std::string_view data);

}  // namespace slipstream
