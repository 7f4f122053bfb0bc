// Parses and checks the body of POST /v1/chat/completions. Fields that this server supports are
// read. Fields of other servers' APIs that would change the answer and that it does not support are
// refused with a sentence. Any other field is ignored, and the answer says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/messages/generation.h"
#include "common/text/chat_template.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/offer.h"
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
  std::vector<std::string> warnings;  // sentences for the client: what was ignored or taken for something else
};

inline constexpr size_t kIgnoredNamedMax = 16;      // fields that the warnings name
inline constexpr size_t kIgnoredNameBytesMax = 64;  // of each name

ApiResult<ChatRequest> parse_chat_request(std::string_view body, const Offer& offer);

}  // namespace slipstream
