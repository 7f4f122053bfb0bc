// JSON that a client or a model wrote, for a template or a tool. Pure.
#pragma once

#include <optional>
#include <string_view>

#include <simdjson.h>
#include <nlohmann/json.hpp>

namespace slipstream {

// Whether no object in the value has more than kJsonKeysMax keys: building one takes time that
// grows with their square.
bool has_few_keys(simdjson::dom::element value);

// The same value. Of a key that comes twice the first counts, as for whoever reads the element
// itself. REQUIRES: has_few_keys(value).
nlohmann::ordered_json json_value(simdjson::dom::element value);

// As json_value(). nullopt: the text is no JSON object, is nested deeper than kJsonDepthMax, or has
// too many keys. Both are checked first: writing and walking a value takes stack for each level.
std::optional<nlohmann::ordered_json> parse_bounded_object(std::string_view text);

// The arguments of a call that a model wrote, where they have to be an object. What is none is
// {"INVALID_JSON": text}, as Anthropic's documentation asks clients to write it.
nlohmann::ordered_json arguments_object(std::string_view text);

}  // namespace slipstream
