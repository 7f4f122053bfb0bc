// Reads when a request is served among those that wait: vLLM's `priority`, a number of which lower
// ones go first, or OpenAI's `service_tier`, which stands for one:
//
//   priority                                 -kTierPriority
//   auto, default, scale, standard_only                   0     (the last is Anthropic's)
//   flex                                      kTierPriority
#pragma once

#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

inline constexpr int32_t kTierPriority = 100;

// Errors name the field. With both fields, `priority` counts.
ApiResult<void> read_priority(const RequestFields& fields, GenerationRequest& request);

// A request that may not go before others is served as usual, and is told so.
void take_no_precedence(GenerationRequest& request);

}  // namespace slipstream
