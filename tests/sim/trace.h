// A readable log of a run: the time, the process and the event of each line. While off it costs one
// test of a flag; a failed run is repeated with it on.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/sim/virtual_time.h"

namespace slipstream::sim {

class Trace {
 public:
  Trace(const VirtualTime& time, bool on) : time_(time), on_(on) {}

  template <class... Args>
  void line(std::string_view who, fmt::format_string<Args...> what, Args&&... args) {
    if (!on_) return;
    const double seconds = static_cast<double>(time_.now().count()) * 1e-6;
    lines_.push_back(fmt::format("{:10.6f}  {:<14} {}", seconds, who, fmt::format(what, std::forward<Args>(args)...)));
  }
  bool on() const { return on_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  const VirtualTime& time_;
  bool on_;
  std::vector<std::string> lines_;
};

}  // namespace slipstream::sim
