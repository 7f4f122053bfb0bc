// An effect of actors: one piece of work for a request that is traced, from its begin to its end,
// as OpenTelemetry has it. The driver of a real process sends it to a collector
// (service/trace_exporter.h); the simulator drops it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/prefix_hash.h"
#include "common/base/trace_context.h"

namespace slipstream {

struct SpanEvent {
  std::string name;
  Time at{};
};

struct Span {
  using Value = std::variant<int64_t, double, std::string>;

  TraceContext trace;     // its parent is the parent of this span
  uint64_t id = 0;        // span_id()
  std::string_view name;  // a literal
  bool serves = false;    // it answers a request from outside of this process
  Time begin{}, end{};
  std::vector<std::pair<std::string_view, Value>> attributes;  // names are literals
  std::vector<SpanEvent> events = {};
  std::string error = {};  // empty: the work was done
};

// The same for the same parts, so that an actor needs no source of randomness; never 0.
inline uint64_t span_id(std::string_view name, const TraceContext& trace, const SequenceId& of, Epoch epoch) {
  uint64_t id = kFnv1aOfNothing;
  for (const char c : name) id = fnv1a(id, static_cast<uint8_t>(c));
  for (uint64_t word : {trace.high, trace.low, trace.parent, of.router, of.counter, uint64_t{epoch}}) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) id = fnv1a(id, word & 0xFF);
  }
  return id == 0 ? 1 : id;
}

}  // namespace slipstream
