// Parses a JSON object whose size, depth and syntax are checked, and reads its fields with a check
// of type and range. Errors name the text and the field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "common/base/result.h"

namespace slipstream {

// A parsed text. `parser` owns the memory that `root` and everything under it refer to. The text
// itself may go.
struct JsonText {
  std::unique_ptr<simdjson::dom::parser> parser;
  simdjson::dom::object root;
};
// `what` names the text in errors.
Result<JsonText> parse_json_object(std::span<const std::byte> text, const std::string& what);
// The same of a configuration file, of at most kConfigBytesMax.
Result<JsonText> read_json_object(const std::filesystem::path& path);
inline constexpr size_t kConfigBytesMax = 4 * 1024 * 1024;

// The fields of one JSON object, by name. A field that is null counts as absent.
class JsonFields {
 public:
  JsonFields(simdjson::dom::object object, std::string what) : object_(object), what_(std::move(what)) {}

  bool has(std::string_view field) const;
  bool is_null(std::string_view field) const;  // and not just absent
  // An absent field is an error, except for boolean_or. `least` and `most` are the allowed range,
  // both included.
  Result<int64_t> integer(std::string_view field, int64_t least, int64_t most) const;
  Result<double> number(std::string_view field, double least, double most) const;
  Result<bool> boolean_or(std::string_view field, bool absent) const;  // absent: the value of an absent field
  Result<std::string> string(std::string_view field) const;
  Result<JsonFields> object(std::string_view field) const;
  Result<simdjson::dom::element> element(std::string_view field) const;
  const std::string& what() const { return what_; }

 private:
  simdjson::dom::object object_;
  std::string what_;
};

}  // namespace slipstream
