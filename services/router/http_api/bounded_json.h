// Parses the text of a JSON object that a client or a model wrote. Pure.
#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace slipstream {

// nullopt: the text is no JSON object, or is nested deeper than kJsonDepthMax. The depth is checked
// first, because writing and walking a value takes stack for each level.
std::optional<nlohmann::ordered_json> parse_bounded_object(std::string_view text);

}  // namespace slipstream
