#include "services/router/http_api/key_use.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

constexpr std::chrono::minutes kForgotten{1};  // then a bucket is full again

ApiError over(std::string message, int retry_after_s) {
  return {.status = 429, .message = std::move(message), .code = "rate_limit_exceeded", .retry_after_s = retry_after_s};
}

}  // namespace

void KeyUse::forget_idle(Clock::time_point now) {
  std::erase_if(
      used_, [now](const auto& entry) { return *entry.second.under_way == 0 && now - entry.second.filled_at >= kForgotten; });
}

KeyUse::Used& KeyUse::of(TenantId tenant, const KeyLimits& limits, Clock::time_point now) {
  if (used_.size() >= kApiKeysMax) forget_idle(now);
  const auto [at, fresh] = used_.try_emplace(tenant);
  Used& used = at->second;
  const double minutes = fresh ? 1.0 : std::chrono::duration<double, std::ratio<60>>(now - used.filled_at).count();
  const double most = limits.per_minute > 0 ? limits.per_minute : kKeyLimitMost;  // a limit that comes later begins full
  used.left = std::min(most, used.left + minutes * most);
  used.filled_at = now;
  return used;
}

ApiResult<KeyUse::Pass> KeyUse::admit(TenantId tenant, const KeyLimits& limits, Clock::time_point now) {
  if (limits == KeyLimits{}) return Pass();
  Used& used = of(tenant, limits, now);
  if (limits.at_once > 0 && *used.under_way >= limits.at_once) {
    return std::unexpected(over(
        fmt::format("Rate limit reached: this API key may have {} requests under way at once. Try again when one has ended.",
                    limits.at_once),
        kRetryFullSeconds));
  }
  if (limits.per_minute > 0 && used.left < 1) {
    const auto wait = static_cast<int>(std::ceil((1 - used.left) * 60 / limits.per_minute));
    return std::unexpected(
        over(fmt::format("Rate limit reached: this API key may send {} requests a minute. Try again in {} s.",
                         limits.per_minute, wait),
             wait));
  }
  if (limits.per_minute > 0) used.left -= 1;
  ++*used.under_way;
  return Pass(nullptr, [under_way = used.under_way](void*) { --*under_way; });
}

}  // namespace slipstream
