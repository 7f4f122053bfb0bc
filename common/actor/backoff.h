// How long to wait before something unanswered is said again: twice as long each time, up to a
// longest. Pure.
#pragma once

#include <algorithm>
#include <utility>

#include "common/actor/actor.h"

namespace slipstream {

class Backoff {
 public:
  constexpr Backoff() = default;  // waits for nothing
  constexpr Backoff(Time first, Time longest) : first_(first), longest_(longest), wait_(first) {}

  Time next() { return std::exchange(wait_, std::min(2 * wait_, longest_)); }
  void reset() { wait_ = first_; }  // it was answered

 private:
  Time first_{}, longest_{}, wait_{};
};

}  // namespace slipstream
