// Reads {"speculation": {...}} of a request: whether drafts may speed it up, which, and how they
// are accepted.
#pragma once

#include <string>
#include <vector>

#include "services/router/http_api/request_fields.h"
#include "services/router/request.h"

namespace slipstream {

// allowed: the names of the acceptance rules that the operator lets clients choose
// (messages/rules.h). Errors name the field.
ApiResult<Speculation> read_speculation(const RequestFields& body, const std::vector<std::string>& allowed);

}  // namespace slipstream
