#include "services/router/http_api/field_names.h"

#include <algorithm>

namespace slipstream {

std::string FieldNames::own(std::string_view field) const {
  for (size_t end = field.size();;) {
    if (const auto at = own_.find(field.substr(0, end)); at != own_.end()) return at->second + std::string(field.substr(end));
    end = field.substr(0, end).find_last_of(".[");
    if (end == std::string_view::npos) return std::string(field);
  }
}

ApiError FieldNames::renamed(ApiError error) const {
  if (own_.empty()) return error;
  error.param = own(error.param);
  std::string words;
  std::string_view rest = error.message;
  for (bool quoted = false;; quoted = !quoted) {
    const size_t end = std::min(rest.find('`'), rest.size());
    words += quoted ? own(rest.substr(0, end)) : std::string(rest.substr(0, end));
    if (end == rest.size()) break;
    words += '`';
    rest.remove_prefix(end + 1);
  }
  error.message = std::move(words);
  return error;
}

}  // namespace slipstream
