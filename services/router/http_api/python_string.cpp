#include "services/router/http_api/python_string.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr std::string_view kSame = "\\\"nrtbf";  // escapes that JSON writes alike
constexpr uint32_t kPlaneEnd = 0x10000, kCodesEnd = 0x110000;

bool is_digit(char c, int base) {
  if (base == 8) return c >= '0' && c <= '7';
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

size_t digits_of(char kind) { return kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 3; }

std::string escaped(uint32_t code) {
  if (code < kPlaneEnd) return fmt::format("\\u{:04x}", code);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((code - kPlaneEnd) >> 10), 0xDC00 + ((code - kPlaneEnd) & 0x3FF));
}

void add(char next, std::string& json) {
  if (next == '"' || next == '\\') {
    json += '\\';
    json += next;
  } else if (next == '\n') {
    json += "\\n";
  } else if (static_cast<unsigned char>(next) < ' ') {
    json += escaped(static_cast<unsigned char>(next));
  } else {
    json += next;
  }
}

}  // namespace

bool PythonString::read(char next, std::string& json) {
  if (in_ == In::quote) {  // one quote was read: it opens a string, or two or three are to follow
    in_ = next == quote_ ? In::quotes : In::text;
    if (in_ == In::quotes) return true;
    json += '"';
  } else if (in_ == In::quotes) {  // two: the string is empty, or in three quotes
    triple_ = next == quote_;
    in_ = triple_ ? In::text : In::nothing;
    json += triple_ ? "\"" : "\"\"";
    return triple_;
  }
  if (in_ == In::nothing) return false;
  if (in_ == In::escape) {
    in_escape(next, json);
  } else if (in_ == In::code) {
    in_code(next, json);
  } else {
    in_text(next, json);
  }
  return true;
}

void PythonString::in_text(char next, std::string& json) {
  in_ = In::text;
  if (next == quote_) {
    if (++closing_ < (triple_ ? 3 : 1)) return;
    in_ = In::nothing;
    json += '"';
    return;
  }
  for (; closing_ > 0; --closing_) add(quote_, json);
  if (next == '\\') {
    in_ = In::escape;
  } else {
    add(next, json);
  }
}

void PythonString::in_escape(char next, std::string& json) {
  in_ = In::text;
  if (kSame.contains(next)) {
    json += '\\';
    json += next;
  } else if (next == '\'' || next == '/') {  // no escape of Python, but one of JSON, which models mix in
    json += next;
  } else if (next == 'a' || next == 'v') {
    json += escaped(next == 'a' ? 7 : 11);
  } else if (next == 'x' || next == 'u' || next == 'U' || is_digit(next, 8)) {
    in_ = In::code;
    kind_ = is_digit(next, 8) ? '0' : next;
    code_ = kind_ == '0' ? std::string(1, next) : "";
  } else if (next != '\n') {  // which goes on in the next line
    add('\\', json);
    add(next, json);
  }
}

void PythonString::in_code(char next, std::string& json) {
  if (is_digit(next, kind_ == '0' ? 8 : 16)) {
    code_ += next;
    if (code_.size() == digits_of(kind_)) end_code(json);
  } else {
    end_code(json);
    in_text(next, json);
  }
}

void PythonString::end_code(std::string& json) {
  in_ = In::text;
  uint32_t code = 0;
  std::from_chars(code_.data(), code_.data() + code_.size(), code, kind_ == '0' ? 8 : 16);
  if ((kind_ == '0' || code_.size() == digits_of(kind_)) && code < kCodesEnd) {
    json += escaped(code);
  } else {
    json += fmt::format("\\\\{}{}", kind_, code_);
  }
}

}  // namespace slipstream
