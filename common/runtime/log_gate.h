// Lets a line of the log through once in a while, and counts those that it kept back: what
// strangers can cause must not fill a disk. The gaps between lines grow while more keep coming;
// after a quiet time the next line is said at once again.
//
//   if (gate.open()) log_warning("cut a connection{}", gate.unsaid());
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace slipstream {

class LogGate {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kGap{5}, kGapMost{300};

  bool open(Clock::time_point now = Clock::now()) {
    const auto before = std::exchange(came_, now);
    if (said_ && now - *said_ < gap_) {
      ++kept_;
      return false;
    }
    gap_ = said_ && now - before < gap_ ? std::min(2 * gap_, kGapMost) : kGap;
    said_ = now;
    return true;
  }
  // To end the line with. Forgets the count.
  std::string unsaid() {
    const uint64_t kept = std::exchange(kept_, 0);
    return kept == 0 ? "" : fmt::format(" ({} more like this before)", kept);
  }

 private:
  std::chrono::seconds gap_ = kGap;
  std::optional<Clock::time_point> said_;
  Clock::time_point came_{};  // the newest, said or kept back
  uint64_t kept_ = 0;
};

}  // namespace slipstream
