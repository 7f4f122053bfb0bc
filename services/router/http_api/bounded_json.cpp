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

std::optional<nlohmann::ordered_json> parse_bounded_object(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element value;
  if (text.empty() || parser.allocate(text.size(), kJsonDepthMax) != simdjson::SUCCESS) return std::nullopt;
  if (parser.parse(text.data(), text.size()).get(value) != simdjson::SUCCESS) return std::nullopt;
  if (!value.is_object() || !has_few_keys(value)) return std::nullopt;
  return nlohmann::ordered_json::parse(text);
}

nlohmann::ordered_json arguments_object(std::string_view text) {
  if (auto parsed = parse_bounded_object(text)) return *std::move(parsed);
  return {{"INVALID_JSON", text}};
}

}  // namespace slipstream
