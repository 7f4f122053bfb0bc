#include "services/router/http_api/tool_grammar.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "services/router/http_api/json_text.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

// How a family of models writes calls.
struct Form {
  std::string_view arguments;          // the name of their field
  std::string_view open, close, next;  // around a call, and between two, as texts in Lark's form
};

Form form_of(ToolFormat format) {
  if (format == ToolFormat::hermes) return {"arguments", R"("<tool_call>\n")", R"("\n</tool_call>")", R"("\n")"};
  return {"parameters", "", "", R"("; ")"};
}

// A call of one tool as JSON schema, with spaces as models write them.
Json call_schema(const Json& function, std::string_view arguments) {
  const Json parameters = function.value("parameters", Json{{"type", "object"}});
  return {{"x-guidance", {{"whitespace_flexible", false}, {"item_separator", ", "}, {"key_separator", ": "}}},
          {"type", "object"},
          {"properties", {{"name", {{"const", function.at("name")}}}, {std::string(arguments), parameters}}},
          {"required", {"name", arguments}},
          {"additionalProperties", false}};
}

}  // namespace

ApiResult<GrammarText> tool_grammar(ToolFormat format, std::string_view tools, std::string_view name, bool parallel) {
  if (format == ToolFormat::none) {
    return std::unexpected(unsupported(
        "tool_choice", "This model's chat template teaches no form of calls that is known here: use `tool_choice` \"auto\"."));
  }
  const Form form = form_of(format);
  std::string rules, any;
  int number = 0;
  for (const Json& tool : Json::parse(tools)) {
    const Json& function = tool.at("function");
    if (!name.empty() && function.at("name") != name) continue;
    const std::string rule = fmt::format("call_{}", number++);
    rules += fmt::format("{}: %json {}\n", rule, dump(call_schema(function, form.arguments)));
    any += (any.empty() ? "" : " | ") + rule;
  }
  if (any.empty()) {
    return std::unexpected(bad_field("tool_choice", fmt::format("`tool_choice` names `{}`, which is not in `tools`.", name)));
  }
  return GrammarText{GrammarForm::lark,
                     fmt::format("start: call{}\ncall: {} body {}\nbody: {}\n{}",
                                 parallel ? fmt::format(" ({} call)*", form.next) : "", form.open, form.close, any, rules)};
}

}  // namespace slipstream
