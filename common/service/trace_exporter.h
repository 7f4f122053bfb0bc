// Sends the spans of this process to an OpenTelemetry collector (OTLP over HTTP, in JSON), from a
// thread of its own. A collector that is slow or away costs spans and nothing else: the queue is
// bounded, and what does not fit, or is not taken, is dropped and counted.
//
//   TRY(TraceExporter exporter, TraceExporter::start("http://127.0.0.1:4318", {"slipstream-router", "..."}));
//
// While one exists, record() (runtime/span_sink.h) gives it the spans.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/metrics/exposition.h"
#include "common/service/otlp.h"

namespace slipstream {

inline constexpr size_t kSpansWaitingMax = 4096;
inline constexpr size_t kSpansPerPostMax = 256;
inline constexpr std::chrono::milliseconds kSpansWait{1000};      // until a post that is not full is sent
inline constexpr std::chrono::milliseconds kTracePostMost{2000};  // for a post; also for the last one, when the process ends
inline constexpr std::string_view kTracesPath = "/v1/traces";

class TraceExporter {
 public:
  // url: http://host:port, which option checks have seen. Error: it is none.
  static Result<TraceExporter> start(const std::string& url, TraceResource resource);
  TraceExporter(TraceExporter&&) noexcept;
  ~TraceExporter();  // sends what waits, for kTracePostMost at most

 private:
  struct Impl;
  explicit TraceExporter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What became of the spans of this process. Thread-safe.
void add_trace_metrics(Exposition& page);

}  // namespace slipstream
