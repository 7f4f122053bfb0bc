// Limits how often one kind of log line is written. Some lines can be caused by strangers (a
// refused connection, for instance), and they must not fill the disk. One gate belongs to one kind
// of line. Not thread-safe.
//
//   1. The first line is written.
//   2. Lines that follow within the gap are suppressed and counted.
//   3. The gap begins at kGap. It doubles up to kGapMost each time a line is written while more
//      keep coming, and falls back to kGap once none came for a whole gap.
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

  // True: write this line. False: suppress it; it has been counted.
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
  // What to append to a line that is written: " (3 more like this before)", or "" if none were
  // suppressed. Sets the count to 0.
  std::string unsaid() {
    const uint64_t kept = std::exchange(kept_, 0);
    return kept == 0 ? "" : fmt::format(" ({} more like this before)", kept);
  }

 private:
  std::chrono::seconds gap_ = kGap;
  std::optional<Clock::time_point> said_;  // when a line was last written
  Clock::time_point came_{};               // when the newest line came, written or suppressed
  uint64_t kept_ = 0;                      // lines suppressed since the last one written
};

}  // namespace slipstream
