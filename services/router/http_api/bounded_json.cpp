#include "services/router/http_api/bounded_json.h"

#include <simdjson.h>

#include "common/base/limits.h"

namespace slipstream {

std::optional<nlohmann::ordered_json> parse_bounded_object(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (text.empty() || parser.allocate(text.size(), kJsonDepthMax) != simdjson::SUCCESS) return std::nullopt;
  if (parser.parse(text.data(), text.size()).get(object) != simdjson::SUCCESS) return std::nullopt;
  return nlohmann::ordered_json::parse(text);
}

}  // namespace slipstream
