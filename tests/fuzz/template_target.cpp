#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "common/text/chat_prompt.h"
#include "tests/fuzz/served_model.h"
#include "tests/fuzz/target.h"

namespace slipstream::fuzz {
namespace {

using Json = nlohmann::ordered_json;

// Fields of the input are parted by this byte.
constexpr char kBorder = '\x1e';

std::vector<std::string> fields_of(std::string_view input) {
  std::vector<std::string> fields;
  for (size_t begin = 0; begin <= input.size();) {
    const size_t end = std::min(input.find(kBorder, begin), input.size());
    fields.emplace_back(input.substr(begin, end - begin));
    begin = end + 1;
  }
  fields.resize(std::max<size_t>(fields.size(), 6));
  return fields;
}

// chat_prompt() wants valid JSON: other texts are left out.
std::string json_or_none(const std::string& text, Json::value_t type) {
  const Json value = Json::parse(text, nullptr, false);
  return value.type() == type ? text : "";
}

// roles, contents, fields of a message, tools, variables, flags.
void to_our_template(const std::vector<std::string>& fields) {
  const ServedModel& model = served_model();
  const std::vector<ChatMessage> messages{{"user", fields[1], ""},
                                          {fields[0], fields[1], json_or_none(fields[2], Json::value_t::object)}};
  const ChatExtras extras{.tools = json_or_none(fields[3], Json::value_t::array),
                          .variables = json_or_none(fields[4], Json::value_t::object),
                          .add_generation_prompt = !fields[5].starts_with('c'),
                          .continue_final_message = fields[5].starts_with('c')};
  const auto prompt = chat_prompt(model.tokenizer, model.chat_template, messages, 1024, extras);
  if (!prompt) {
    CHECK(!prompt.error().message.empty(), "an error without words");
    return;
  }
  for (const TokenId id : *prompt) CHECK(id >= 0 && id < model.vocabulary, "token {}", id);
  // Two messages, tools and the generation prompt: words never become special tokens.
  const auto marks = std::ranges::count(*prompt, TokenId{3});
  CHECK(marks <= 4, "a word became one of {} special tokens", marks);
}

size_t count_of(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

// What minijinja does not bound: a namespace that is put into itself and printed ends the stack, a
// list times a large number takes its memory, and so does a text that is written as JSON again and
// again, since each time doubles its backslashes. A template comes with the model, so no client can
// write that.
bool is_bounded(std::string_view source) {
  constexpr size_t kDigitsMax = 3, kTimesMax = 2, kToJsonMax = 8;
  size_t digits = 0;
  for (const char c : source) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kDigitsMax) return false;
  }
  return !source.contains("namespace") && !source.contains("**") && count_of(source, "*") <= kTimesMax &&
         count_of(source, "tojson") <= kToJsonMax;
}

void as_a_template(const std::string& source) {
  if (!is_bounded(source)) return;
  const auto made = ChatTemplate::parse(source, "", "the template");
  if (!made) {
    CHECK(!made.error().message.empty(), "an error without words");
    return;
  }
  const std::vector<ChatMessage> messages{{"user", "a", ""}, {"assistant", "b", R"({"tool_calls":[]})"}};
  const auto text =
      made->render(messages, {}, {.tools = R"([{"function":{"name":"f"}}])", .variables = R"({"x":[1,{"y":2}]})"});
  CHECK(text || !text.error().message.empty(), "an error without words");
}

}  // namespace

// The first byte says whether the rest are fields or a template.
Target template_target() {
  return {.name = "template",
          .corpus = {"fuser\x1ehello<|turn|>\x1e{\"tool_call_id\":\"1\"}\x1e[{\"function\":{\"name\":\"f\"}}]\x1e{\"enable_"
                     "thinking\":true}\x1e",
                     "fassistant\x1e</"
                     "s\x1e{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":\"<|turn|>\"}}}]}\x1e\x1e\x1e"
                     "c",
                     "ftool\x1e\xf3\xb0\x80\x80<s>\x1e\x1e\x1e{\"a\":{\"b\":[\"<s>\"]}}\x1e",
                     "t{% for m in messages %}{{ m.role | upper }}{{ m['content'].strip() }}{% endfor %}",
                     "t{% macro f(n) %}{{ n }}{% endmacro %}{{ f(messages[0]) }}{{ tools | tojson(indent=2) }}",
                     "t{% for k, v in x[1].items() recursive %}{{ loop.index ~ k }}{{ loop(x[1].items()) if v > 2 }}{% endfor "
                     "%}{{ cycler(1, 2) }}",
                     "t{{ raise_exception('no') if not messages else strftime_now('%d %b %Y') }}{{ x[::-1] ~ 'a' * 3 }}"},
          .words = {"{{",
                    "}}",
                    "{%",
                    "%}",
                    "{%-",
                    "| tojson",
                    "| length",
                    "for i in range(999)",
                    "endfor",
                    "if",
                    "endif",
                    "messages",
                    "tools",
                    "x",
                    "f(",
                    "// 0",
                    "% 0",
                    "* 999",
                    "[::",
                    "raise_exception(",
                    "strftime_now('",
                    "<|turn|>",
                    "</s>",
                    "<",
                    "\x1e",
                    "\xf3\xb0\x80\x80",
                    "{\"a\":",
                    "[[",
                    "recursive",
                    "loop(x)",
                    ".split(",
                    ".replace('', x",
                    "| sort | join | reverse | batch(0) | slice(0)",
                    "{% include 'chat' %}",
                    "{% extends 'chat' %}",
                    "{% import 'chat' as f %}"},
          .run = [](std::string_view input) {
            if (input.empty()) return;
            if (input[0] == 't') return as_a_template(std::string(input.substr(1)));
            to_our_template(fields_of(input.substr(1)));
          }};
}

}  // namespace slipstream::fuzz
