#include "services/router/http_api/tool_grammar.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

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
  if (format == ToolFormat::pythonic) return {"", "", "", R"(", ")"};
  return {"parameters", "", "", R"("; ")"};
}

// Spaces as models write them.
Json spaces() { return {{"whitespace_flexible", false}, {"item_separator", ", "}, {"key_separator", ": "}}; }

Json parameters_of(const Json& function) { return function.value("parameters", Json{{"type", "object"}}); }

// A call of one tool as JSON schema. What the parameters refer to ("#/$defs/...") is at its root.
Json call_schema(const Json& function, std::string_view arguments) {
  Json parameters = parameters_of(function);
  Json schema{{"x-guidance", spaces()}, {"type", "object"}};
  for (const std::string_view kept : {"$defs", "definitions"}) {
    if (const auto found = parameters.find(kept); found != parameters.end()) {
      schema[std::string(kept)] = *found;
      parameters.erase(found);
    }
  }
  schema["properties"] = {{"name", {{"const", function.at("name")}}}, {std::string(arguments), std::move(parameters)}};
  schema["required"] = {"name", arguments};
  schema["additionalProperties"] = false;
  return schema;
}

constexpr std::string_view kFormatField = "response_format";

// A schema as a rule of Lark's form has it, where whatever is no JSON is found by the compiler.
std::string document_schema(std::string_view text) {
  Json schema = Json::parse(text, nullptr, false);
  if (schema.is_boolean()) schema = Json::object();
  if (schema.is_object() && !schema.contains("x-guidance")) schema["x-guidance"] = spaces();
  return schema.is_discarded() ? std::string(text) : dump(schema);
}

// What the schema of arguments in Python's form may say beside its properties.
constexpr std::array<std::string_view, 9> kSaidOfArguments{"type",    "properties",           "required",    "strict", "title",
                                                           "$schema", "additionalProperties", "description", "$defs"};

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string list_of(const std::vector<std::string>& arguments, size_t first, const std::vector<bool>& required) {
  std::string list;
  for (size_t i = first; i < arguments.size(); ++i) {
    const std::string next = (i > first ? R"(", " )" : "") + arguments[i];
    list += i > first && !required[i] ? fmt::format(" ({})?", next) : " " + next;
  }
  return list;
}

// The rules of a call in Python's form: a rule for each argument, whose value is a document of its
// schema, then the call with its required arguments, and the others, in the order of the schema.
// at: the parameters' path in the request.
ApiResult<std::string> python_rules(const std::string& rule, const Json& function, const std::string& at) {
  const Json schema = parameters_of(function);
  for (const auto& [field, value] : schema.items()) {
    if (std::ranges::find(kSaidOfArguments, field) != kSaidOfArguments.end()) continue;
    const std::string path = fmt::format("{}.{}", at, field);
    return std::unexpected(unsupported(
        path, fmt::format("`{}` of the tool `{}` cannot be enforced in this model's form of calls: use `tool_choice` \"auto\".",
                          path, function.at("name").get<std::string>())));
  }
  const Json properties = schema.value("properties", Json::object());
  const Json must = schema.value("required", Json::array());
  std::string rules;
  std::vector<std::string> arguments;
  std::vector<bool> required;
  const auto add = [&](const std::string& name, Json value, bool is_required) {
    if (value.is_boolean()) value = Json::object();
    if (schema.contains("$defs")) value["$defs"] = schema["$defs"];
    value["x-guidance"] = spaces();
    arguments.push_back(fmt::format("{}_{}", rule, arguments.size()));
    required.push_back(is_required);
    rules += fmt::format("{}: {} {}_json\n{}_json: %json {}\n", arguments.back(), dump(name + "="), arguments.back(),
                         arguments.back(), dump(value));
  };
  for (const bool first : {true, false}) {
    for (const auto& [name, value] : properties.items()) {
      if (!is_identifier(name)) {
        const std::string path = fmt::format("{}.properties.{}", at, name);
        return std::unexpected(
            unsupported(path, fmt::format("`{}` of the tool `{}`: `{}` is no name in this model's form of calls.", path,
                                          function.at("name").get<std::string>(), name)));
      }
      const bool is_required = std::ranges::find(must, Json(name)) != must.end();
      if (is_required == first) add(name, value, is_required);
    }
  }
  std::string lists = required.empty() || !required.front() ? "\"\"" : "";
  for (size_t first = 0; first < arguments.size() && (first == 0 || !required.front()); ++first) {
    lists += (lists.empty() ? "" : " |") + list_of(arguments, first, required);
  }
  return rules + fmt::format("{}: {} {}_list \")\"\n{}_list: {}\n", rule, dump(function.at("name").get<std::string>() + "("),
                             rule, rule, lists);
}

}  // namespace

ApiResult<GrammarText> tool_grammar(const CallForms& forms) {
  if (forms.format == ToolFormat::none) {
    return std::unexpected(unsupported(
        "tool_choice", "This model's chat template teaches no form of calls that is known here: use `tool_choice` \"auto\"."));
  }
  const Form form = form_of(forms.format);
  const bool list = forms.format == ToolFormat::pythonic;
  std::string rules, any;
  int number = 0;
  size_t index = 0;
  for (const Json& tool : Json::parse(forms.tools)) {
    const std::string at = fmt::format("tools[{}].function.parameters", index++);
    const Json& function = tool.at("function");
    if (!forms.name.empty() && function.at("name") != forms.name) continue;
    const std::string rule = fmt::format("call_{}", number++);
    if (list) {
      TRY(const std::string python, python_rules(rule, function, at));
      rules += python;
    } else {
      rules += fmt::format("{}: %json {}\n", rule, dump(call_schema(function, form.arguments)));
    }
    any += (any.empty() ? "" : " | ") + rule;
  }
  if (any.empty()) {
    return std::unexpected(
        bad_field("tool_choice", fmt::format("`tool_choice` names `{}`, which is not in `tools`.", forms.name)));
  }
  if (!forms.schema.empty()) rules += fmt::format("document: %json {}\n", document_schema(forms.schema));
  const bool several = forms.parallel && forms.name.empty();
  return GrammarText{GrammarForm::lark, fmt::format("start: calls{}\ncalls: {}call{}{}\ncall: {} body {}\nbody: {}\n{}",
                                                    forms.schema.empty() ? "" : " | document", list ? "\"[\" " : "",
                                                    several ? fmt::format(" ({} call)*", form.next) : "", list ? " \"]\"" : "",
                                                    form.open, form.close, any, rules)};
}

ApiResult<void> add_calls(GenerationRequest& request, ToolFormat format, std::string_view tools) {
  if (tools.empty()) return {};
  request.tool_format = format;
  const bool formatted = request.grammar_field.starts_with(kFormatField);
  if (!request.must_call && !formatted) return {};
  if (!request.spec.grammar.empty() && !formatted) {
    return std::unexpected(bad_field(
        "tool_choice", fmt::format("`tool_choice` asks for a call, and `{}` for another form.", request.grammar_field)));
  }
  CallForms forms{.format = format, .tools = tools, .name = request.call_only, .parallel = request.parallel_tool_calls};
  if (!request.must_call) forms.schema = request.spec.grammar.text;
  auto grammar = tool_grammar(forms);
  if (request.must_call) {
    if (!grammar) return std::unexpected(grammar.error());
    request.grammar_field = "tool_choice";
    request.spec.grammar = *std::move(grammar);
    return {};
  }
  request.grammar_without_tools = request.spec.grammar;
  if (!grammar) {
    leave_out_tools(request);
  } else {
    request.spec.grammar = *std::move(grammar);
    request.calls_or_document = true;
  }
  return {};
}

void leave_out_tools(GenerationRequest& request) {
  request.warnings.push_back(fmt::format("The tools cannot be called, because `{}` is followed.", kFormatField));
  request.spec.grammar = std::exchange(request.grammar_without_tools, {});
  request.calls_or_document = false;
}

}  // namespace slipstream
