// Writes JSON as text. Bytes that are no UTF-8 become U+FFFD.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace slipstream {

inline std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace slipstream
