// Parses the body of a POST: one JSON object.
#pragma once

#include <memory>
#include <string_view>

#include "services/router/http_api/request_fields.h"

namespace slipstream {

class RequestBody {
 public:
  // Errors say where the text is not JSON, or that it is no object.
  static ApiResult<RequestBody> parse(std::string_view text);
  const RequestFields& fields() const { return fields_; }  // valid while this object lives

 private:
  RequestBody(std::unique_ptr<simdjson::dom::parser> parser, simdjson::dom::object object)
      : parser_(std::move(parser)), fields_(object) {}

  std::unique_ptr<simdjson::dom::parser> parser_;  // owns what the fields refer to
  RequestFields fields_;
};

}  // namespace slipstream
