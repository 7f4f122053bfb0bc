#include "common/service/service_main.h"

#include <string>

#include "common/base/log.h"
#include "common/zmq/open_files.h"

namespace slipstream {

int run_service(std::string_view name, std::string_view log_level, const std::function<Result<void>(StopSignal&)>& run) {
  log_start(std::string(name), log_level_from(log_level).value_or(LogLevel::info));
  // StopSignal blocks its signals for the threads that start later, so it comes before `run`.
  allow_open_files();
  StopSignal stop;
  const Result<void> ran = run(stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}

}  // namespace slipstream
