// Where the spans of this process's actor go: a process names it before its loop begins, if traces
// are wanted. Without one they are dropped.
#pragma once

#include <chrono>
#include <functional>

#include "common/actor/span.h"

namespace slipstream {

// A Span's times count from an actor's beginning; `began` is when that was.
struct TimedSpan {
  Span span;
  std::chrono::system_clock::time_point began;
  std::chrono::system_clock::time_point at(Time time) const { return began + time; }
};

// It must be thread-safe, and must not block.
using SpanSink = std::function<void(TimedSpan)>;

// REQUIRES: no loop runs. An empty one: none.
void set_span_sink(SpanSink sink);
void record(TimedSpan span);

}  // namespace slipstream
