#include "common/runtime/span_sink.h"

#include <utility>

namespace slipstream {
namespace {

SpanSink& current() {
  static SpanSink sink;
  return sink;
}

}  // namespace

void set_span_sink(SpanSink sink) { current() = std::move(sink); }

void record(TimedSpan span) {
  if (current()) current()(std::move(span));
}

}  // namespace slipstream
