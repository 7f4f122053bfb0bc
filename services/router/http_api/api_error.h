// Errors with the status that clients act upon, in the shape of each API:
//
//   openai     {"error": {"message", "type", "param", "code"}}
//   anthropic  {"type": "error", "error": {"type", "message"}}
//   ollama     {"error": message}
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "common/http/server.h"
#include "services/router/request.h"

namespace slipstream {

inline constexpr std::string_view kDetokenizeFailed = "detokenize_failed";
inline constexpr size_t kErrorTextMost = 2000;  // bytes of a message or a field's name; longer ones are cut in the middle

enum class ErrorShape : uint8_t { openai, anthropic, ollama };

struct ApiError {
  int status = 400;
  std::string message;     // names the field and the limit, and what to do
  std::string param = {};  // the field at fault; "": null
  std::string code = {};   // "": null
  int retry_after_s = 0;
};

template <class T>
using ApiResult = std::expected<T, ApiError>;

ApiError api_error(const Failure& failure);
// A 403: only an admin may do that. remedy: what to do, as an end of its sentence.
ApiError needs_admin(std::string_view remedy);
ApiError unknown_host(std::string_view host);
// The router's inbox, or a queue on the way to it, has no room. closing: this router shuts down.
ApiError not_taken(bool closing);
std::string error_json(const ApiError& error, ErrorShape shape = ErrorShape::openai);
http::Response text_response(std::string content_type, std::string body);
http::Response json_response(std::string json);
http::Response error_response(const ApiError& error, ErrorShape shape = ErrorShape::openai);

}  // namespace slipstream
