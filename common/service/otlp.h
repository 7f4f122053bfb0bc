// Spans as OTLP/HTTP has them in JSON
// (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in hexadecimal, times in
// nanoseconds since 1970 as strings. Pure.
#pragma once

#include <span>
#include <string>

#include "common/runtime/span_sink.h"

namespace slipstream {

// Who has done the work.
struct TraceResource {
  std::string service;   // "slipstream-router"
  std::string instance;  // unique among the processes of a service
};

// The body of a POST to /v1/traces.
std::string otlp_json(const TraceResource& resource, std::span<const TimedSpan> spans);

}  // namespace slipstream
