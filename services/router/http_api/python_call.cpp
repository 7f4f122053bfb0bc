#include "services/router/http_api/python_call.h"

#include <string_view>

#include <fmt/format.h>

namespace slipstream {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Of a tool's name, of a number, or of a word such as True.
bool is_of_word(char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '+'; }

}  // namespace

CallState PythonCall::read(char next) {
  at_ = after(next);
  if (at_ == At::nowhere) return CallState::none;
  if (at_ == At::end) return CallState::closed;
  return begun_ ? CallState::begun : CallState::opening;
}

PythonCall::At PythonCall::after(char next) {
  switch (at_) {
    case At::name:
      return in_name(next);
    case At::argument:
      return in_argument(next);
    case At::value:
      return in_value(next);
    case At::end:
    case At::nowhere:
      break;
  }
  return At::nowhere;
}

PythonCall::At PythonCall::in_name(char next) {
  if (next == '(' && !name_.empty()) return At::argument;
  const bool fits = name_.empty() ? is_letter(next) : is_of_word(next) && next != '+';
  if (!fits) return At::nowhere;
  name_ += next;
  return At::name;
}

// A first argument without a name is no call: a text may well have words in brackets.
PythonCall::At PythonCall::in_argument(char next) {
  if (is_space(next)) {
    (word_.empty() ? held_ : word_) += next;
    return At::argument;
  }
  if (next == ')' && word_.empty()) return close();
  if (next == '=' && !word_.empty()) {
    word_.erase(word_.find_last_not_of(" \t\r\n") + 1);
    json_ += fmt::format("{}{}\"{}\": ", begun_ ? "" : "{", std::exchange(held_, {}), std::exchange(word_, {}));
    begun_ = true;
    return At::value;
  }
  const bool spaced = !word_.empty() && is_space(word_.back());
  if (!spaced && (is_letter(next) || (is_digit(next) && !word_.empty()))) {
    word_ += next;
    return At::argument;
  }
  if (!begun_) return At::nowhere;
  if (!word_.empty()) json_ += std::exchange(held_, {});
  return in_value(next);
}

PythonCall::At PythonCall::in_value(char next) {
  if (string_) {
    const bool of_string = string_->read(next, json_);
    if (string_->ended()) string_.reset();
    if (of_string) return At::value;
  }
  if (is_of_word(next)) {
    if (word_.empty()) json_ += std::exchange(held_, {});
    word_ += next;
    return At::value;
  }
  end_word();
  const bool closes = next == ')' || next == ']' || next == '}';
  if (next == ')' && depth_ == 0) return close();
  if (next == ',' || is_space(next)) {
    held_ += next;
    return next == ',' && depth_ == 0 ? At::argument : At::value;
  }
  if (closes) {
    held_.clear();  // a comma before a bracket is Python, and no JSON
    depth_ -= depth_ > 0 ? 1 : 0;
    json_ += next == ')' ? ']' : next;
    return At::value;
  }
  json_ += std::exchange(held_, {});
  if (next == '"' || next == '\'') {
    string_.emplace(next);
    return At::value;
  }
  depth_ += next == '(' || next == '[' || next == '{' ? 1 : 0;
  json_ += next == '(' ? '[' : next;
  return At::value;
}

PythonCall::At PythonCall::close() {
  json_ += begun_ ? "}" : "{}";
  begun_ = true;
  return At::end;
}

void PythonCall::end_word() {
  const std::string word = std::exchange(word_, {});
  json_ += word == "True" ? "true" : word == "False" ? "false" : word == "None" ? "null" : word;
}

}  // namespace slipstream
