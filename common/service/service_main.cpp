#include "common/service/service_main.h"

#include <string>

#include "common/base/log.h"
#include "common/zmq/open_files.h"

namespace slipstream {

int run_service(std::string_view name, LogSettings log, const std::function<Result<void>(StopSignal&)>& run) {
  log_start(name, log_level_from(log.level).value_or(LogLevel::info), log_format_from(log.format));
  // StopSignal blocks its signals for the threads that start later, so it comes before `run`.
  allow_open_files();
  StopSignal stop;
  const Result<void> ran = run(stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}

}  // namespace slipstream
