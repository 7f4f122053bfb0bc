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

std::shared_ptr<spdlog::logger> make_logger(std::string_view service) {
  auto logger = std::make_shared<spdlog::logger>(std::string(service), std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %-7l %n: %v");
  logger->set_level(spdlog::level::trace);  // log_wants() filters, before the text is formatted
  logger->flush_on(spdlog::level::trace);
  return logger;
}

// The only global object of the process. It is never destroyed, because threads may still log while
// static objects are being destroyed.
struct Log {
  std::atomic<LogLevel> level{LogLevel::info};
  std::mutex mutex;  // guards logger, which log_start may replace while other threads log
  std::shared_ptr<spdlog::logger> logger = make_logger("slipstream");
};
Log& process_log() {
  static Log* log = new Log;
  return *log;
}

constexpr size_t kMessageBytesMax = 4096 - 128;  // of the message alone: the prefix takes the rest of 4 KB

}  // namespace

std::optional<LogLevel> log_level_from(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kNames.begin());
}

void log_start(std::string_view service, LogLevel level) {
  Log& log = process_log();
  const std::lock_guard lock(log.mutex);
  log.logger = make_logger(service);
  log.level = level;
}

bool log_wants(LogLevel level) {
  return level != LogLevel::off && level >= process_log().level.load(std::memory_order_relaxed);
}

void log_line(LogLevel level, std::string_view message) {
  Log& log = process_log();
  std::string clean = is_printable(message) ? std::string(message) : one_line(message);
  if (clean.size() > kMessageBytesMax) clean.replace(kMessageBytesMax - 3, std::string::npos, "...");
  // The sink has no lock of its own (stderr_sink_st): this one keeps lines whole.
  const std::lock_guard lock(log.mutex);
  log.logger->log(native(level), clean);
}

}  // namespace slipstream
