// Lets a line of the log through once in a while, and counts those that it kept back: what strangers can cause must not fill a
// disk.
//
//   if (gate.open()) log_warning("cut a connection{}", gate.unsaid());
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace slipstream {

class LogGate {
 public:
  bool open() {
    const auto now = std::chrono::steady_clock::now();
    if (said_ && now - *said_ < kBetweenLines) {
      ++kept_;
      return false;
    }
    said_ = now;
    return true;
  }
  // To end the line with. Forgets the count.
  std::string unsaid() {
    const uint64_t kept = std::exchange(kept_, 0);
    return kept == 0 ? "" : fmt::format(" ({} more like this before)", kept);
  }

 private:
  static constexpr std::chrono::seconds kBetweenLines{5};
  std::optional<std::chrono::steady_clock::time_point> said_;
  uint64_t kept_ = 0;
};

}  // namespace slipstream
