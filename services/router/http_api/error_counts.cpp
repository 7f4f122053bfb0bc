#include "services/router/http_api/error_counts.h"

#include <algorithm>

namespace slipstream {

void ErrorCounts::add(std::string_view code) {
  const auto at = std::ranges::find(kErrorCodes, code) - kErrorCodes.begin();
  counts_[std::min(static_cast<size_t>(at), kErrorCodes.size() - 1)].fetch_add(1, std::memory_order_relaxed);
}

ErrorCountsByCode ErrorCounts::by_code() const {
  ErrorCountsByCode counts{};
  std::ranges::transform(counts_, counts.begin(), [](const auto& count) { return count.load(std::memory_order_relaxed); });
  return counts;
}

}  // namespace slipstream
