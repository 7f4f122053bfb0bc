// Parses and checks the body of POST /v1/chat/completions. Fields that this server supports are
// read. Fields of OpenAI's or vLLM's API that it does not support are refused with a sentence.
// Unknown fields are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/messages/generation.h"
#include "common/text/chat_template.h"
#include "services/router/http_api/api_error.h"
#include "services/router/request.h"

namespace slipstream {

struct ChatRequest {
  std::vector<ChatMessage> messages;
  GenerationSpec spec;                 // without what needs the model; an output_max of 0: what the context leaves
  std::vector<std::string> bad_words;  // as text; the spec has them as tokens
  std::optional<int64_t> seed;         // nullopt: the server chooses one
  std::vector<std::string> stops;
  bool ignore_eos = false;
  bool stream = false;
  bool include_usage = false;     // a last chunk without choices
  bool continuous_usage = false;  // usage in each chunk
  // Fields of Slipstream alone. {"slipstream": {"tokens": true}} returns token ids and which were
  // drafted.
  Speculation speculation;
  bool tell_tokens = false;
};

// served: the name of the one model; a request may leave `model` out. rules: the names of the
// acceptance rules that a request may choose.
ApiResult<ChatRequest> parse_chat_request(std::string_view body, std::string_view served,
                                          const std::vector<std::string>& rules);

}  // namespace slipstream
