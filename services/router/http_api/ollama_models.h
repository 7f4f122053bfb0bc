// What Ollama's API tells of the model that is served: /api/tags, /api/show. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/router/http_api/api_error.h"
#include "services/router/http_api/served_model.h"

namespace slipstream {

// The list of /api/tags. created: Unix seconds.
std::string ollama_tags(const ServedModel& model, int64_t created);

// Of the model that the body of POST /api/show names. context: tokens that a request may have.
// An error if another one is named.
ApiResult<std::string> ollama_show(std::string_view body, const ServedModel& model, int32_t context);

// The error of a request that names a model, with or without ":latest", which is not served.
ApiResult<void> check_ollama_model(std::string_view name, const Offer& offer);

}  // namespace slipstream
