// Limits how long steps wait for trees: waiting time is paid from the time that drafts have saved.
// It is one of the three bounds on a draft (docs/design/SCHEDULER.md, "Three bounds on a draft"),
// and the second half of promise 2, "never slower for long".
//
//   credit := min(credit + computed (share + saved) - waited, most)        after each step
//
//   computed   how long the step computed
//   saved      steps that its accepted nodes saved each sequence, on average: an accepted node
//              saves one
//   waited     how long the step stood ready and waited
//   most       kWaitCreditMax (more at a larger share), or kWaitCreditSteps mean steps if that is
//              longer
//
// Whatever drafters do (they may be silent, or answer with empty or useless trees just before each
// deadline), waiting costs at most that share of the time computed, and the first credit once.
//
// A wait begins only if the credit lasts until the tree is expected: a wait that ends too early
// costs time and brings nothing. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace slipstream {

inline constexpr double kWaitShare = 0.05;  // of the time computed

// The most credit that can be saved up: kWaitCreditMax at a share of kWaitShare, in proportion more
// at a larger share; or kWaitCreditSteps steps of mean length, if those take longer.
inline constexpr std::chrono::microseconds kWaitCreditMax{20'000};
inline constexpr int kWaitCreditSteps = 4;
inline constexpr double kWaitStepWeight = 1.0 / 16;  // weight of the newest step in the mean

class WaitBudget {
 public:
  explicit WaitBudget(double share = kWaitShare)
      : share_(share),
        credit_max_us_(static_cast<double>(kWaitCreditMax.count()) * std::max(1.0, share / kWaitShare)),
        credit_us_(credit_max_us_) {}
  // Whether a step may wait for a tree. waited: how long it has stood ready already. expected: how
  // much longer the tree will likely take.
  bool allows(std::chrono::microseconds waited = {}, std::chrono::microseconds expected = {}) const {
    return credit_us_ > static_cast<double>((waited + expected).count());
  }
  // The longest wait that the credit pays, from the moment when the step stands ready.
  std::chrono::microseconds credit() const {
    return std::chrono::microseconds(static_cast<int64_t>(std::ceil(std::max(credit_us_, 0.0))));
  }

  // Call after each step; the parameters are those of the formula above.
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
