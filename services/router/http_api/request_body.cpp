#include "services/router/http_api/request_body.h"

#include <fmt/format.h>

#include "common/base/limits.h"
#include "services/router/http_api/json_error.h"

namespace slipstream {
namespace {

ApiError malformed(std::string_view why) {
  return {.status = 400, .message = fmt::format("The body is not valid JSON: {}", why), .code = "invalid_json"};
}

ApiError explain(std::string_view text, std::string_view otherwise) {
  const JsonFault fault = find_json_fault(text, otherwise);
  if (!fault.too_large) return malformed(fault.what);
  const std::string field = fault.field.empty() ? std::string() : fmt::format("`{}` holds ", fault.field);
  return bad_field(fault.field,
                   fmt::format("{}{}, beyond what a number may be: a 64-bit integer or a double.", field, fault.what));
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
    return std::unexpected(explain(text, simdjson::error_message(error)));
  }
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    return std::unexpected(malformed(fmt::format("it must be an object; it is {}.", kind_of(root))));
  }
  return RequestBody(std::move(parser), object);
}

}  // namespace slipstream
