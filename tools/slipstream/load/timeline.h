// A run over time: windows of equal width, each with what happened in it. When a run outgrows its
// windows, each two become one, so memory is bounded and the plot keeps its shape. Pure; not
// thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/slipstream/load/histogram.h"
#include "tools/slipstream/load/sample.h"

namespace slipstream::command::load {

inline constexpr size_t kWindowsMax = 128;
inline constexpr Duration kFirstWindow = std::chrono::milliseconds(250);

struct Window {
  uint64_t scheduled = 0;                                // requests that should have been sent in it
  uint64_t tokens = 0;                                   // that arrived in it, of complete answers
  uint64_t failed = 0;                                   // requests that ended otherwise, by the time of their end
  LatencyHistogram ttft{kCoarseBits}, e2e{kCoarseBits};  // of complete answers, by their scheduled time
};

class Timeline {
 public:
  void add(const Sample& sample);
  Duration width() const { return width_; }
  const std::vector<Window>& windows() const { return windows_; }  // from the beginning of the run, without gaps

 private:
  Window& at(Offset time);

  Duration width_ = kFirstWindow;
  std::vector<Window> windows_;
};

}  // namespace slipstream::command::load
