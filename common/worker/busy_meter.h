// The share of its time that a process computes, measured over windows of one second. Pure.
#pragma once

#include <algorithm>

#include "common/actor/actor.h"

namespace slipstream {

inline constexpr Time kBusyWindow = std::chrono::seconds(1);

class BusyMeter {
 public:
  void add(Time computed) { computed_ += computed; }

  // Of the last whole window, [0, 1]. It is 0 before the first window has ended. A window ends at
  // the first call that comes at least kBusyWindow after its begin.
  float share(Time now) {
    if (const Time window = now - began_; window >= kBusyWindow) {
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
