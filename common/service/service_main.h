// What main() of every service does around the service itself: it handles the options' exit code,
// starts the log and the traces, raises the limit on open files, makes the stop signal, and gives
// the exit code.
//
//   int main(int argc, char** argv) { return service_main("router", parse_router_options(argc, argv), run); }
#pragma once

#include <functional>
#include <string_view>
#include <variant>

#include "common/base/result.h"
#include "common/base/stop_signal.h"
#include "common/config/settings.h"

namespace slipstream {

// What it tells of itself: --log-level, --log-format and --otlp.
struct Telling {
  std::string_view log_level, log_format, otlp;
};

// name: the service name in each log line.
//
// Returns the exit code: 0, or 1 if `run` failed, whose error is then logged.
// REQUIRES: no other thread has started (base/stop_signal.h).
int run_service(std::string_view name, const Telling& telling, const std::function<Result<void>(StopSignal&)>& run);

// Returns the exit code of the parse if the command line ends the run, else that of run_service().
template <class Options>
int service_main(std::string_view name, const Parsed<Options>& parsed, Result<void> (*run)(const Options&, StopSignal&)) {
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<Options>(parsed);
  return run_service(name, {options.log_level, options.log_format, options.otlp},
                     [&](StopSignal& stop) { return run(options, stop); });
}

}  // namespace slipstream
