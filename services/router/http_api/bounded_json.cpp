#include "services/router/http_api/bounded_json.h"

#include <algorithm>

#include "common/base/limits.h"

namespace slipstream {

bool has_few_keys(simdjson::dom::element value) {
  simdjson::dom::array list;
  if (value.get(list) == simdjson::SUCCESS) return std::ranges::all_of(list, has_few_keys);
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return true;
  size_t keys = 0;
  for (const auto& field : object) {
    if (++keys > kJsonKeysMax || !has_few_keys(field.value)) return false;
  }
  return true;
}

nlohmann::ordered_json json_value(simdjson::dom::element value) {
  using Json = nlohmann::ordered_json;
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::ARRAY: {
      Json list = Json::array();
      for (const simdjson::dom::element one : simdjson::dom::array(value)) list.push_back(json_value(one));
      return list;
    }
    case element_type::OBJECT: {
      Json object = Json::object();
      for (const auto& field : simdjson::dom::object(value)) {
        object[std::string(field.key)] = json_value(field.value);  // of one that comes twice the last counts
      }
      return object;
    }
    case element_type::INT64:
      return int64_t(value);
    case element_type::UINT64:
      return uint64_t(value);
    case element_type::DOUBLE:
      return double(value);
    case element_type::STRING:
      return std::string_view(value);
    case element_type::BOOL:
      return bool(value);
    default:
      return nullptr;
  }
}

std::optional<nlohmann::ordered_json> parse_bounded_object(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element value;
  if (text.empty() || parser.allocate(text.size(), kJsonDepthMax) != simdjson::SUCCESS) return std::nullopt;
  if (parser.parse(text.data(), text.size()).get(value) != simdjson::SUCCESS) return std::nullopt;
  if (!value.is_object() || !has_few_keys(value)) return std::nullopt;
  return json_value(value);
}

nlohmann::ordered_json arguments_object(std::string_view text) {
  if (auto parsed = parse_bounded_object(text)) return *std::move(parsed);
  return {{"INVALID_JSON", text}};
}

}  // namespace slipstream
