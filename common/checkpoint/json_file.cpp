#include "common/checkpoint/json_file.h"

#include "common/base/limits.h"
#include "common/checkpoint/mapped_file.h"

namespace slipstream {

// allocate() sets the limit of depth; without it the parser accepts simdjson's default of 1024.
Result<JsonText> parse_json_object(std::span<const std::byte> text, const std::string& what) {
  JsonText json{std::make_unique<simdjson::dom::parser>(), {}};
  if (json.parser->allocate(text.size() + 1, kJsonDepthMax) != simdjson::SUCCESS) {
    return fail("{}: {} bytes of JSON do not fit in memory", what, text.size());
  }
  const auto parsed = json.parser->parse(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  if (parsed.error() != simdjson::SUCCESS) {
    return fail("{} is no valid JSON ({}): copy or download the file again", what, simdjson::error_message(parsed.error()));
  }
  if (parsed.get_object().get(json.root) != simdjson::SUCCESS) return fail("{} must hold a JSON object", what);
  return json;
}

// The file may be unmapped after parsing, as simdjson copies the strings.
Result<JsonText> read_json_object(const std::filesystem::path& path) {
  TRY(const MappedFile file, MappedFile::open(path));
  if (file.bytes().size() > kConfigBytesMax) return fail("{} is over {} bytes", path.string(), kConfigBytesMax);
  return parse_json_object(file.bytes(), path.string());
}

bool JsonFields::has(std::string_view field) const {
  simdjson::dom::element value;
  return object_.at_key(field).get(value) == simdjson::SUCCESS && !value.is_null();
}

bool JsonFields::is_null(std::string_view field) const {
  simdjson::dom::element value;
  return object_.at_key(field).get(value) == simdjson::SUCCESS && value.is_null();
}

Result<simdjson::dom::element> JsonFields::element(std::string_view field) const {
  simdjson::dom::element value;
  if (object_.at_key(field).get(value) != simdjson::SUCCESS || value.is_null()) {
    return fail("{} has no field \"{}\"", what_, field);
  }
  return value;
}

Result<int64_t> JsonFields::integer(std::string_view field, int64_t least, int64_t most) const {
  TRY(const auto value, element(field));
  int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS) return fail("{}: \"{}\" must be an integer", what_, field);
  if (number < least || number > most) {
    return fail("{}: \"{}\" is {}, supported are {} to {}", what_, field, number, least, most);
  }
  return number;
}

Result<double> JsonFields::number(std::string_view field, double least, double most) const {
  TRY(const auto value, element(field));
  double number = 0;
  if (value.get_double().get(number) != simdjson::SUCCESS) return fail("{}: \"{}\" must be a number", what_, field);
  if (!(number >= least && number <= most)) {
    return fail("{}: \"{}\" is {}, supported are {} to {}", what_, field, number, least, most);
  }
  return number;
}

Result<bool> JsonFields::boolean_or(std::string_view field, bool absent) const {
  if (!has(field)) return absent;
  TRY(const auto value, element(field));
  bool flag = false;
  if (value.get_bool().get(flag) != simdjson::SUCCESS) return fail("{}: \"{}\" must be true or false", what_, field);
  return flag;
}

Result<std::string> JsonFields::string(std::string_view field) const {
  TRY(const auto value, element(field));
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return fail("{}: \"{}\" must be a string", what_, field);
  return std::string(text);
}

Result<JsonFields> JsonFields::object(std::string_view field) const {
  TRY(const auto value, element(field));
  simdjson::dom::object inner;
  if (value.get_object().get(inner) != simdjson::SUCCESS) return fail("{}: \"{}\" must be an object", what_, field);
  return JsonFields(inner, what_ + ": " + std::string(field));
}

}  // namespace slipstream
