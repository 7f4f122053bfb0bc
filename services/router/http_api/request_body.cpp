#include "services/router/http_api/request_body.h"

#include <fmt/format.h>

#include "common/base/limits.h"
#include "services/router/http_api/json_error.h"

namespace slipstream {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors write it before the text (RFC 8259, 8.1)

ApiError malformed(std::string_view why) {
  return {.status = 400, .message = fmt::format("The body is not valid JSON: {}", why), .code = "invalid_json"};
}

}  // namespace

ApiResult<RequestBody> RequestBody::parse(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) return std::unexpected(malformed("it is empty."));
  auto parser = std::make_unique<simdjson::dom::parser>(kHttpBodyBytesMax);
  if (parser->allocate(text.size(), kJsonDepthMax) != simdjson::SUCCESS) {
    return std::unexpected(malformed("it is too large."));
  }
  simdjson::dom::element root;
  if (const auto error = parser->parse(text.data(), text.size()).get(root); error == simdjson::DEPTH_ERROR) {
    return std::unexpected(malformed(fmt::format("it is nested deeper than {} levels.", kJsonDepthMax)));
  } else if (error != simdjson::SUCCESS) {
    return std::unexpected(malformed(explain_bad_json(text, simdjson::error_message(error))));
  }
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    return std::unexpected(malformed(fmt::format("it must be an object; it is {}.", kind_of(root))));
  }
  return RequestBody(std::move(parser), object);
}

}  // namespace slipstream
