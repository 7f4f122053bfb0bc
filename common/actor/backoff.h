// Exponential back-off: how long to wait before an unanswered message is sent again. Each wait is
// twice the last one, up to a longest. Pure.
#pragma once

#include <algorithm>
#include <utility>

#include "common/actor/actor.h"

namespace slipstream {

class Backoff {
 public:
  constexpr Backoff() = default;  // every wait is 0
  constexpr Backoff(Time first, Time longest) : first_(first), longest_(longest), wait_(first) {}

  // Returns the wait that begins now, and doubles the one after it.
  Time next() { return std::exchange(wait_, std::min(2 * wait_, longest_)); }
  void reset() { wait_ = first_; }  // an answer came: begin with the first wait again

 private:
  Time first_{}, longest_{}, wait_{};
};

}  // namespace slipstream
