#include "services/router/http_api/json_call.h"

#include <string_view>

#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

void BracketDepth::read(char next) {
  if (escaped_) {
    escaped_ = false;
  } else if (string_) {
    escaped_ = next == '\\';
    string_ = next != '"';
  } else if (next == '"') {
    string_ = true;
  } else if (next == '{' || next == '[') {
    ++depth_;
  } else if (next == '}' || next == ']') {
    --depth_;
  }
}

CallState JsonCall::read(char next) {
  at_ = after(next);
  if (at_ == At::nowhere) return CallState::none;
  if (at_ == At::end) return CallState::closed;
  if (name_.empty() || !has_arguments_) return CallState::opening;
  return complete_ ? CallState::complete : CallState::begun;
}

JsonCall::At JsonCall::after(char next) {
  const bool between = at_ == At::object || at_ == At::key || at_ == At::colon || at_ == At::value || at_ == At::comma;
  if (between && is_space(next)) return at_;
  switch (at_) {
    case At::object:
      return next == '{' ? At::key : At::nowhere;
    case At::key:
      token_.clear();
      return next == '"' ? At::in_key : At::nowhere;
    case At::in_key:
      return in_key(next);
    case At::colon:
      return next == ':' ? At::value : At::nowhere;
    case At::value:
      return value(next);
    case At::in_name:
      return in_name(next);
    case At::in_arguments:
      return in_arguments(next);
    case At::in_other:
      return in_other(next);
    case At::comma:
      return comma(next);
    case At::behind:
      return behind(next);
    case At::end:
    case At::nowhere:
      break;
  }
  return At::nowhere;
}

JsonCall::At JsonCall::in_key(char next) {
  if (next == '"' && !escaped_) return At::colon;
  escaped_ = next == '\\' && !escaped_;
  token_ += next;
  return At::in_key;
}

JsonCall::At JsonCall::value(char next) {
  brackets_ = {};
  if (token_ == "name" && name_.empty()) {
    token_ = next;
    return next == '"' ? At::in_name : At::nowhere;
  }
  const bool arguments = token_ == "arguments" || token_ == "parameters";
  if (arguments && !has_arguments_ && next == '{') {
    has_arguments_ = true;
    return in_arguments(next);
  }
  return in_other(next);
}

JsonCall::At JsonCall::in_name(char next) {
  token_ += next;
  if (next != '"' || escaped_) {
    escaped_ = next == '\\' && !escaped_;
    return At::in_name;
  }
  const auto name = nlohmann::json::parse(token_, nullptr, false);
  if (name.is_string()) name_ = name.get<std::string>();
  if (name_.empty()) return At::nowhere;
  brackets_ = {};
  return complete_ ? At::behind : At::comma;
}

JsonCall::At JsonCall::in_arguments(char next) {
  arguments_ += next;
  brackets_.read(next);
  complete_ = brackets_.depth() == 0;
  if (!complete_) return At::in_arguments;
  if (name_.empty()) return At::comma;
  brackets_ = {};
  return At::behind;
}

JsonCall::At JsonCall::in_other(char next) {
  if (brackets_.outside() && (next == ',' || next == '}' || next == ']')) return comma(next);
  brackets_.read(next);
  return At::in_other;
}

JsonCall::At JsonCall::comma(char next) { return next == ',' ? At::key : At::nowhere; }

// Other fields, up to the brace that closes the object.
JsonCall::At JsonCall::behind(char next) {
  brackets_.read(next);
  return brackets_.depth() < 0 ? At::end : At::behind;
}

}  // namespace slipstream
