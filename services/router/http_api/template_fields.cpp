#include "services/router/http_api/template_fields.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "services/router/http_api/bounded_json.h"

namespace slipstream {
namespace {

ApiResult<std::string> read_variables(const RequestFields& body) {
  TRY(const auto variables, body.object("chat_template_kwargs"));
  if (!variables) return std::string();
  const simdjson::dom::element given = *body.find("chat_template_kwargs");
  if (!has_few_keys(given)) {
    return std::unexpected(
        bad_field("chat_template_kwargs", fmt::format("an object in `chat_template_kwargs` has over {} keys.", kJsonKeysMax)));
  }
  return json_value(given).dump();
}

}  // namespace

ApiResult<TemplateFields> read_template_fields(const RequestFields& body) {
  TemplateFields fields;
  TRY(fields.tools, read_tools(body));
  fields.extras.tools = std::exchange(fields.tools.tools, {});
  TRY(fields.extras.variables, read_variables(body));
  TRY(const auto generate, body.boolean("add_generation_prompt"));
  TRY(const auto continues, body.boolean("continue_final_message"));
  fields.extras.continue_final_message = continues.value_or(false);
  fields.extras.add_generation_prompt = generate.value_or(!fields.extras.continue_final_message);
  if (fields.extras.continue_final_message && fields.extras.add_generation_prompt) {
    return std::unexpected(bad_field("continue_final_message",
                                     "`continue_final_message` goes with `add_generation_prompt`: false: a message is "
                                     "continued, or a new one begins."));
  }
  return fields;
}

}  // namespace slipstream
