// Reads the fields that all requests have which generate text. Fields that this server supports are
// read. Fields of other servers' APIs that would change the answer and that it does not support are
// refused with a sentence. Any other field is ignored, and the answer says so.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/offer.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

// All fields but the prompt and the logprobs, whose form differs from path to path. Errors name the
// field.
ApiResult<void> read_generation(const RequestFields& fields, const Offer& offer, GenerationRequest& request);

// Notes each field that nothing has read, so that a misspelt one is seen.
void note_ignored(const RequestFields& fields, GenerationRequest& request);
// A sentence for each field that is not used; if the offer is strict, the error that refuses it.
ApiResult<std::vector<std::string>> warnings_of(std::span<const std::string> ignored, const Offer& offer);
// Warns of what was noted, or refuses the request.
ApiResult<void> tell_ignored(GenerationRequest& request, const Offer& offer);
inline constexpr size_t kIgnoredNameBytesMax = 64;  // of each name

}  // namespace slipstream
