// Which trace a request belongs to (W3C Trace Context, https://www.w3.org/TR/trace-context/). It
// goes with the request from process to process, and never changes a token. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipstream {

struct TraceContext {
  uint64_t high = 0, low = 0;  // id of the trace; both 0: the request is not traced
  uint64_t parent = 0;         // id of the span that asked for this work; 0: none did
  bool traced() const { return (high | low) != 0; }
  bool operator==(const TraceContext&) const = default;
};

// What a client's header `traceparent` says.
struct TraceParent {
  TraceContext trace;
  bool sampled = false;  // the client's own spans of it are recorded
};
// nullopt: the header is none of the form 00-TRACE-SPAN-FLAGS, or an id of it is 0.
std::optional<TraceParent> read_traceparent(std::string_view header);

std::string hex16(uint64_t id);  // 16 digits, lower case

}  // namespace slipstream
