// POST /tokenize and /detokenize, in vLLM's form. On the text thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/router/http_api/api_error.h"
#include "services/router/http_api/served_model.h"

namespace slipstream {

struct TokensApi {
  const ServedModel& model;
  int32_t context = 0;  // tokens that a request may have

  // Both take a body and give the JSON of the answer. Errors name the field.

  // {"prompt": text, "add_special_tokens"}, or {"messages": [...]} with the fields of
  // template_fields.h; and "return_token_strs".
  ApiResult<std::string> tokenize(std::string_view body) const;
  // {"tokens": [...]}
  ApiResult<std::string> detokenize(std::string_view body) const;
};

}  // namespace slipstream
