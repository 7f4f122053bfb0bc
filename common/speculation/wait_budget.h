// The other half of promise 2: what steps wait for drafts is paid from what drafts have saved. An
// accepted node saves its sequence one step; beside that, waiting may cost a share of the time
// computed. Whatever drafters do (silent, empty or useless just before each deadline), however many
// sequences share a step: that share, and kWaitCreditMax once, is all they can cost. And a wait
// begins only if the credit lasts until the tree is likely there: half a wait costs as much and
// brings nothing. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace slipstream {

inline constexpr double kWaitShare = 0.05;  // of the time computed
inline constexpr std::chrono::microseconds kWaitCreditMax{
    20'000};                                         // that can be saved up (at a larger share, so much more), or
inline constexpr int kWaitCreditSteps = 4;           // of mean length, if those are longer
inline constexpr double kWaitStepWeight = 1.0 / 16;  // of the newest step in that mean

class WaitBudget {
 public:
  explicit WaitBudget(double share = kWaitShare)
      : share_(share),
        credit_max_us_(static_cast<double>(kWaitCreditMax.count()) * std::max(1.0, share / kWaitShare)),
        credit_us_(credit_max_us_) {}
  // Whether a step that has stood ready for so long may go on waiting for a tree that is likely
  // there in `expected` more.
  bool allows(std::chrono::microseconds waited = {}, std::chrono::microseconds expected = {}) const {
    return credit_us_ > static_cast<double>((waited + expected).count());
  }
  // When a wait must end: then allows() says no.
  std::chrono::microseconds credit() const {
    return std::chrono::microseconds(static_cast<int64_t>(std::ceil(std::max(credit_us_, 0.0))));
  }

  // A step is over: how long it had stood ready and waited, how long it computed, and how many
  // steps its accepted nodes saved each of its sequences, on average.
  void step(std::chrono::microseconds waited, std::chrono::microseconds computed, double saved_steps) {
    const auto step_us = static_cast<double>(computed.count());
    mean_step_us_ += (step_us - mean_step_us_) * kWaitStepWeight;
    const double most = std::max(credit_max_us_, kWaitCreditSteps * mean_step_us_);
    credit_us_ = std::min(credit_us_ + step_us * (share_ + saved_steps) - static_cast<double>(waited.count()), most);
  }

 private:
  double share_, credit_max_us_;
  double credit_us_;
  double mean_step_us_ = 0;
};

}  // namespace slipstream
