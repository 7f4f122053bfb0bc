// What GET /v1/models and /v1/models/{name} tell. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/router/http_api/api_error.h"
#include "services/router/http_api/offer.h"

namespace slipstream {

// asked: a name, or "" for the list of all. created: Unix seconds. context: tokens that a request
// may have. An error if there is no such model.
ApiResult<std::string> models_json(const Offer& offer, std::string_view asked, int64_t created, int32_t context);

}  // namespace slipstream
