#include "services/router/http_api/api_error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/limits.h"
#include "services/router/http_api/json_text.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

const char* type_of(int status) {
  switch (status) {
    case 408:
      return "timeout_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "service_unavailable_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

// The names of Anthropic's API, which its clients turn into exceptions.
const char* anthropic_type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 408:
      return "timeout_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

// An error quotes what the client sent, but cuts a long text in the middle.
std::string within(const std::string& text) {
  if (text.size() <= kErrorTextMost) return text;
  constexpr size_t kHalf = kErrorTextMost / 2;
  return text.substr(0, kHalf) + " [...] " + text.substr(text.size() - kHalf);
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

ApiError needs_admin(std::string_view remedy) {
  return {.status = 403, .message = "Only an admin may do that: " + std::string(remedy) + ".", .code = "needs_admin"};
}

ApiError unknown_host(std::string_view host) {
  return {.status = 403,
          .message = fmt::format("This router is not called \"{}\": call it by its address or as localhost, or start it with "
                                 "--allowed-host and that name. (A page in a browser may lead here under a name of its own.)",
                                 within(std::string(host))),
          .code = "unknown_host"};
}

ApiError not_taken(bool closing) {
  if (closing) return api_error(shutting_down());
  return {.status = 429,
          .message =
              fmt::format("{} requests are on their way into this router, its limit. Try again in a moment.", kInboxEventsMax),
          .code = "queue_full",
          .retry_after_s = kRetryFullSeconds};
}

ApiError api_error(const Failure& failure) {
  return {.status = failure.status,
          .message = failure.message,
          .param = failure.param,
          .code = failure.code,
          .retry_after_s = failure.retry_after_s};
}

std::string error_json(const ApiError& error, ErrorShape shape) {
  if (shape == ErrorShape::anthropic) {
    return dump(
        Json{{"type", "error"}, {"error", {{"type", anthropic_type_of(error.status)}, {"message", within(error.message)}}}});
  }
  if (shape == ErrorShape::ollama) return dump(Json{{"error", within(error.message)}});
  return dump(Json{{"error",
                    {{"message", within(error.message)},
                     {"type", type_of(error.status)},
                     {"param", or_null(within(error.param))},
                     {"code", or_null(error.code)}}}});
}

http::Response text_response(std::string content_type, std::string body) {
  http::Response response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  return response;
}

http::Response json_response(std::string json) { return text_response("application/json", std::move(json)); }

http::Response error_response(const ApiError& error, ErrorShape shape) {
  http::Response response = json_response(error_json(error, shape));
  response.status = error.status;
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.retry_after_s > 0) response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  return response;
}

}  // namespace slipstream
