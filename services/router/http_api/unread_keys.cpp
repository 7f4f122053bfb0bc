#include "services/router/http_api/unread_keys.h"

namespace slipstream {
namespace {

bool says_nothing(simdjson::dom::element value) {
  simdjson::dom::array list;
  simdjson::dom::object object;
  bool flag = true;
  if (value.is_null() || (value.get(flag) == simdjson::SUCCESS && !flag)) return true;
  if (value.get(list) == simdjson::SUCCESS) return list.size() == 0;
  return value.get(object) == simdjson::SUCCESS && object.size() == 0;
}

}  // namespace

void UnreadKeys::note(const RequestFields& fields) {
  for (const auto& field : fields.object()) {
    if (ignored_.size() >= kIgnoredNamedMax) return;
    if (fields.has_read(field.key) || says_nothing(field.value)) continue;
    if (told_.emplace(field.key).second) ignored_.push_back(fields.name(field.key));
  }
}

}  // namespace slipstream
