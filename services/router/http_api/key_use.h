// Holds the requests of each API key within its limits: so many a minute, and so many at once.
//
//   const auto pass = use.admit(tenant, limits, now);
//   if (!pass) ...           // 429, with the seconds until another try may pass
//   ... the request is under way while a copy of *pass lives ...
//
// A key has a bucket of as many requests as it may send in a minute, which fills up evenly: after a
// pause that many may come at once.
// Threads: admit() is called on the HTTP server's thread. A pass may end on any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "common/base/ids.h"
#include "services/router/http_api/api_error.h"

namespace slipstream {

struct KeyLimits {
  int32_t per_minute = 0;  // requests; 0: no limit
  int32_t at_once = 0;     // under way; 0: no limit
  bool operator==(const KeyLimits&) const = default;
};
inline constexpr int32_t kKeyLimitMost = 1'000'000;  // of either

class KeyUse {
 public:
  using Clock = std::chrono::steady_clock;
  using Pass = std::shared_ptr<void>;  // null: nothing is counted

  // A request of that tenant begins, or gets the error that names the limit.
  ApiResult<Pass> admit(TenantId tenant, const KeyLimits& limits, Clock::time_point now);
  size_t tenants() const { return used_.size(); }  // that are remembered

 private:
  struct Used {
    double left = 0;  // requests in the bucket
    Clock::time_point filled_at{};
    std::shared_ptr<std::atomic<int32_t>> under_way = std::make_shared<std::atomic<int32_t>>(0);
  };
  Used& of(TenantId tenant, const KeyLimits& limits, Clock::time_point now);
  void forget_idle(Clock::time_point now);

  std::unordered_map<TenantId, Used> used_;
};

// What the router lets a request do once it has passed.
struct Admitted {
  KeyUse::Pass pass = nullptr;
  bool may_go_first = true;  // its priority may be better than the usual
};

}  // namespace slipstream
