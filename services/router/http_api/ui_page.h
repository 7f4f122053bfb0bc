// Serves the web page at /ui and its files below it. They hold nothing secret, so they need no API
// key; what the page then asks for needs one like everybody's requests. Pure.
#pragma once

#include <string_view>

#include "common/http/server.h"
#include "services/router/http_api/api_error.h"

namespace slipstream {

// path: kUiPath, or one below it. Error: a 404, as there is no such file.
ApiResult<http::Response> ui_response(std::string_view path);

}  // namespace slipstream
