#include "services/router/http_api/json_error.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

constexpr size_t kNumberBytesTold = 40;
constexpr int kOverflow = 406;  // nlohmann's number for a number beyond a double

// Keeps the first error and drops all values. simdjson, which reads requests, does not say where a
// text breaks; so a text that it refused is parsed a second time. nlohmann's parser takes integers
// beyond 64 bits, as doubles; here they are errors, as for simdjson.
class FirstError final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t& text) override {
    return text.find_first_of(".eE") != string_t::npos || end_at_number(text);
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth > 0; }
  bool key(string_t& name) override {
    if (depth == 1) field = name;
    return true;
  }
  bool end_object() override { return --depth >= 0; }
  bool start_array(std::size_t) override { return ++depth > 0; }
  bool end_array() override { return --depth >= 0; }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) override {
    if (error.id == kOverflow) return end_at_number(token);
    at = position;
    why = error.what();
    return false;
  }

  std::size_t at = 0;  // bytes read when the error was seen
  std::string why;     // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
  std::string number;  // that is too large
  std::string field;   // the newest key of the outermost object
  int depth = 0;

 private:
  bool end_at_number(const std::string& text) {
    number = text;
    return false;
  }
};

// Without the library's own prefix and place, which out_of_range errors lack.
std::string_view reason(std::string_view why) {
  if (const size_t end = why.find("] "); why.starts_with('[') && end != std::string_view::npos) why.remove_prefix(end + 2);
  if (const size_t end = why.find(": "); why.starts_with("parse error at") && end != std::string_view::npos) {
    why.remove_prefix(end + 2);
  }
  return why;
}

// at: index of the byte at fault.
std::string with_place(std::string_view text, size_t at, std::string_view why) {
  const std::string_view before = text.substr(0, at);
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}: {}.", 1 + std::ranges::count(before, '\n'), 1 + before.size() - line_begin, why);
}

}  // namespace

JsonFault find_json_fault(std::string_view text, std::string_view otherwise) {
  FirstError error;
  const bool taken = nlohmann::json::sax_parse(text.begin(), text.end(), &error);
  if (!error.number.empty()) {
    const bool cut = error.number.size() > kNumberBytesTold;
    return {.what = error.number.substr(0, kNumberBytesTold) + (cut ? "..." : ""), .too_large = true, .field = error.field};
  }
  if (!taken) return {.what = with_place(text, error.at > 0 ? error.at - 1 : 0, reason(error.why))};
  // nlohmann's parser skips a byte order mark, and a NUL ends its text.
  if (text.starts_with(kByteOrderMark)) return {.what = with_place(text, 0, "there is a second byte order mark")};
  const size_t nul = text.find('\0');
  return {.what = nul == text.npos ? std::string(otherwise) : with_place(text, nul, "there is a NUL behind the JSON")};
}

}  // namespace slipstream
