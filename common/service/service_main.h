// What main() of every service does around the service itself: it handles the options' exit code,
// starts the log and the traces, raises the limit on open files, makes the stop signal, and gives
// the exit code.
//
//   int main(int argc, char** argv) { return service_main("router", parse_router_options(argc, argv), run); }
//
// The exit code tells a supervisor whether to start the service again (docs/use/SERVE.md): it is 1
// after a failure that another start may not meet, and kExitUsage where every start would fail in
// the same way, until somebody mends what the log names.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/base/result.h"
#include "common/base/stop_signal.h"
#include "common/config/settings.h"

namespace slipstream {

// What it tells of itself: --log-level, --log-format and --otlp.
struct Telling {
  std::string_view log_level, log_format, otlp;
};

// Why a service ended.
struct Ended {
  std::string message;
  int exit_code = kExitFailure;

  Ended(Error error) : message(std::move(error.message)) {}  // NOLINT: any error of a Result, by TRY
  Ended(std::string message, int exit_code) : message(std::move(message)), exit_code(exit_code) {}
};
using Served = std::expected<void, Ended>;

// Of what a service needs before it can serve. Its error comes back at each start, unless it is
// passing.
//
//   TRY(LoadedTarget target, at_start(load_target(options)));
template <class T>
std::expected<T, Ended> at_start(Result<T> needed) {
  if constexpr (std::is_void_v<T>) {
    if (needed) return {};
  } else {
    if (needed) return *std::move(needed);
  }
  const int exit_code = exit_code_of(needed.error());
  return std::unexpected(Ended(std::move(needed.error().message), exit_code));
}

// name: the service name in each log line.
//
// Returns the exit code: 0, or that of `run` if it failed, whose message is then logged.
// REQUIRES: no other thread has started (base/stop_signal.h).
int run_service(std::string_view name, const Telling& telling, const std::function<Served(StopSignal&)>& run);

// Returns the exit code of the parse if the command line ends the run, else that of run_service().
template <class Options>
int service_main(std::string_view name, const Parsed<Options>& parsed, Served (*run)(const Options&, StopSignal&)) {
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<Options>(parsed);
  return run_service(name, {options.log_level, options.log_format, options.otlp},
                     [&](StopSignal& stop) { return run(options, stop); });
}

}  // namespace slipstream
