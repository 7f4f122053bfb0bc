// Virtual time: a queue of future happenings. Happenings of equal time occur in the order in which
// they were planned, so that a run depends on its seed alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/actor/actor.h"

namespace slipstream::sim {

class VirtualTime {
 public:
  using Happening = std::move_only_function<void()>;

  Time now() const { return now_; }
  uint64_t happened() const { return happened_; }

  // Plans a happening. A time in the past means now.
  void at(Time when, Happening what) {
    plans_.push_back({std::max(when, now_), planned_++, std::move(what)});
    std::ranges::push_heap(plans_, later);
  }
  void in(Time delay, Happening what) { at(now_ + delay, std::move(what)); }

  // Runs all happenings up to `end`. Returns false if more than kAtOnceMax of them occur at one
  // time, so that `end` would never come.
  bool run_until(Time end) {
    uint64_t at_once = 0;
    while (!plans_.empty() && plans_.front().when <= end) {
      at_once = plans_.front().when == now_ ? at_once + 1 : 0;
      if (at_once > kAtOnceMax) return false;
      std::ranges::pop_heap(plans_, later);
      Plan plan = std::move(plans_.back());
      plans_.pop_back();
      now_ = plan.when;
      ++happened_;
      plan.what();
    }
    now_ = std::max(now_, end);
    return true;
  }

 private:
  static constexpr uint64_t kAtOnceMax = 100'000;
  struct Plan {
    Time when;
    uint64_t order;
    Happening what;
  };
  static bool later(const Plan& a, const Plan& b) { return std::pair(a.when, a.order) > std::pair(b.when, b.order); }

  Time now_{0};
  uint64_t planned_ = 0, happened_ = 0;
  std::vector<Plan> plans_;  // a heap with the next one in front
};

}  // namespace slipstream::sim
