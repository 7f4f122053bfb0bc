// Measures the share of its time that a worker computes, over windows of one second. Pure.
#pragma once

#include <algorithm>

#include "common/actor/actor.h"

namespace slipstream {

inline constexpr Time kBusyWindow = std::chrono::seconds(1);

class BusyMeter {
 public:
  // A compute job of this duration has ended.
  void add(Time computed) { computed_ += computed; }

  // The share of the last completed window, in [0, 1]; 0 before the first window has ended. A
  // window ends at the first call of share() that comes at least kBusyWindow after the window
  // began.
  float share(Time now) {
    if (const Time window = now - began_; window >= kBusyWindow) {
      // A job is counted where it ends, so a job longer than its window would give more than 1.
      share_ = std::min(1.0F, static_cast<float>(computed_.count()) / static_cast<float>(window.count()));
      began_ = now;
      computed_ = {};
    }
    return share_;
  }

 private:
  Time began_{}, computed_{};
  float share_ = 0;
};

}  // namespace slipstream
