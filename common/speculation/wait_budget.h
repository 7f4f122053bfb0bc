// The other half of promise 2: what steps wait for drafts is paid from what drafts have saved. An accepted node saves its
// sequence one step; beside that, waiting may cost a share of the time computed. Whatever drafters do (silent, empty or
// useless just before each deadline), however many sequences share a step: that share, and kWaitCreditMax once, is all they can
// cost. Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace slipstream {

inline constexpr double kWaitShare = 0.05;                          // of the time computed
inline constexpr std::chrono::microseconds kWaitCreditMax{20'000};  // that can be saved up

class WaitBudget {
 public:
  explicit WaitBudget(double share = kWaitShare) : share_(share) {}
  bool allows() const { return credit_us_ > 0; }

  // A step is over: how long it had stood ready and waited, how long it computed, and how many steps its accepted nodes saved
  // each of its sequences, on average.
  void step(std::chrono::microseconds waited, std::chrono::microseconds computed, double saved_steps) {
    const double earned = static_cast<double>(computed.count()) * (share_ + saved_steps);
    credit_us_ =
        std::min(credit_us_ + earned - static_cast<double>(waited.count()), static_cast<double>(kWaitCreditMax.count()));
  }

 private:
  double share_;
  double credit_us_ = static_cast<double>(kWaitCreditMax.count());
};

}  // namespace slipstream
