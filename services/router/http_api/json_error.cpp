#include "services/router/http_api/json_error.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

// Keeps the first error and drops all values. simdjson, which reads requests, does not say where a
// text breaks; so a text that it refused is parsed a second time.
class FirstError final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    at = position;
    why = error.what();
    return false;
  }

  std::size_t at = 0;  // bytes read when the error was seen
  std::string why;     // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
};

// Without the library's own prefix and place, which out_of_range errors lack.
std::string_view reason(std::string_view why) {
  if (const size_t end = why.find("] "); why.starts_with('[') && end != std::string_view::npos) why.remove_prefix(end + 2);
  if (const size_t end = why.find(": "); why.starts_with("parse error at") && end != std::string_view::npos) {
    why.remove_prefix(end + 2);
  }
  return why;
}

}  // namespace

std::string explain_bad_json(std::string_view text, std::string_view otherwise) {
  FirstError error;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &error)) return std::string(otherwise);
  const std::string_view before = text.substr(0, error.at > 0 ? std::min(error.at - 1, text.size()) : 0);
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}: {}.", 1 + std::ranges::count(before, '\n'), 1 + before.size() - line_begin,
                     reason(error.why));
}

}  // namespace slipstream
