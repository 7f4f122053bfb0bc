// How requests are sampled that do not say so: as the operator's flags say, else as the model's
// files recommend, else with OpenAI's neutral values.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/config/router_config.h"
#include "services/router/http_api/offer.h"

namespace slipstream {

// A folder recommends in generation_config.json, a GGUF file in its fields general.sampling.*; both
// may name all values, some or none. Errors name the file and the value that is out of range.
Result<SamplingDefaults> read_sampling_defaults(const RouterOptions& options);

std::string words_of(const SamplingDefaults& defaults);  // "temperature 0.6, top_p 0.95"

}  // namespace slipstream
