#include "common/service/service_main.h"

#include <unistd.h>

#include <optional>
#include <string>

#include "common/base/log.h"
#include "common/service/trace_exporter.h"
#include "common/zmq/open_files.h"

namespace slipstream {
namespace {

constexpr size_t kHostNameBytes = 256;

TraceResource trace_resource(std::string_view role) {
  char host[kHostNameBytes] = "unknown";
  gethostname(host, sizeof host - 1);
  return {.service = fmt::format("slipstream-{}", role), .instance = fmt::format("{}-{}", host, getpid())};
}

}  // namespace

int run_service(std::string_view name, const Telling& telling, const std::function<Served(StopSignal&)>& run) {
  log_start(name, log_level_from(telling.log_level).value_or(LogLevel::info), log_format_from(telling.log_format));
  // StopSignal blocks its signals for the threads that start later, so it comes before `run`.
  allow_open_files();
  StopSignal stop;
  std::optional<TraceExporter> exporter;
  if (!telling.otlp.empty()) {
    auto started = TraceExporter::start(std::string(telling.otlp), trace_resource(name));
    if (!started) log_error("{}", started.error().message);
    if (!started) return exit_code_of(started.error());
    exporter.emplace(*std::move(started));
  }
  const Served ran = run(stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : ran.error().exit_code;
}

}  // namespace slipstream
