// The body of POST /v1/chat/completions, checked: what is built is read, what is known but not
// built yet is refused with a sentence, what nobody knows is ignored.
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
  GenerationSpec spec;                 // what the body alone says of it; an output_max of 0: what the context leaves
  std::vector<std::string> bad_words;  // as text: those of the spec are tokens
  std::optional<int64_t> seed;         // none: the server draws one
  std::vector<std::string> stops;
  bool ignore_eos = false;
  bool stream = false;
  bool include_usage = false;     // a last chunk without choices
  bool continuous_usage = false;  // usage in each chunk
  // Ours; {"slipstream": {"tokens": true}} returns ids and which were drafted.
  Speculation speculation;
  bool tell_tokens = false;
};

// served: the one model's name; a request may leave `model` out. rules: those that a request may
// choose.
ApiResult<ChatRequest> parse_chat_request(std::string_view body, std::string_view served,
                                          const std::vector<std::string>& rules);

}  // namespace slipstream
