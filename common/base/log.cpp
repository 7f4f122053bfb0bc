#include "common/base/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/base/printable.h"

namespace slipstream {
namespace {

constexpr std::array<std::string_view, 5> kNames{"debug", "info", "warning", "error", "off"};
constexpr std::array kLevels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err,
                             spdlog::level::off};

spdlog::level::level_enum native(LogLevel level) { return kLevels[static_cast<size_t>(level)]; }

std::shared_ptr<spdlog::logger> make_logger(std::string_view service, LogFormat format) {
  auto logger = std::make_shared<spdlog::logger>(std::string(service), std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern(format == LogFormat::json ? "%v" : "%Y-%m-%dT%H:%M:%S.%e %-7l %n: %v");
  logger->set_level(spdlog::level::trace);  // log_wants() filters, before the text is formatted
  logger->flush_on(spdlog::level::trace);
  return logger;
}

// The only global object of the process. It is never destroyed, because threads may still log while
// static objects are being destroyed.
struct Log {
  std::atomic<LogLevel> level{LogLevel::info};
  std::mutex mutex;  // guards format and logger, which log_start may replace while other threads log
  LogFormat format = LogFormat::text;
  std::shared_ptr<spdlog::logger> logger = make_logger("slipstream", format);
};
Log& process_log() {
  static Log* log = new Log;
  return *log;
}

std::string text_line(std::string_view message) {
  return cut_for_log(is_printable(message) ? message : one_line(message));
}

}  // namespace

std::optional<LogLevel> log_level_from(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kNames.begin());
}

LogFormat log_format_from(std::string_view name) { return name == kLogFormatNames[1] ? LogFormat::json : LogFormat::text; }

void log_start(std::string_view service, LogLevel level, LogFormat format) {
  Log& log = process_log();
  const std::lock_guard lock(log.mutex);
  log.logger = make_logger(service, format);
  log.format = format;
  log.level = level;
}

bool log_wants(LogLevel level) {
  return level != LogLevel::off && level >= process_log().level.load(std::memory_order_relaxed);
}

void log_line(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  Log& log = process_log();
  // The sink has no lock of its own (stderr_sink_st): this one keeps lines whole.
  const std::lock_guard lock(log.mutex);
  if (log.format == LogFormat::text) return log.logger->log(native(level), text_line(message));
  log.logger->log(native(level), json_line({.time = std::chrono::system_clock::now(),
                                            .level = kNames[static_cast<size_t>(level)],
                                            .service = log.logger->name(),
                                            .message = message,
                                            .fields = fields}));
}

}  // namespace slipstream
