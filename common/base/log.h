// One line an event, to stderr: time, level, service, message. The only door to the logging library, which stays out of this
// header: it costs seconds to include. Thread-safe. Before log_start() lines carry the service "slipstream" at level info.
//
//   log_start("router", LogLevel::info);
//   log_info("listening on {}", endpoint);
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace slipstream {

enum class LogLevel { debug, info, warning, error, off };

inline constexpr std::string_view kLogLevelNames = "debug, info, warning, error or off";
std::optional<LogLevel> log_level_from(std::string_view name);

void log_start(std::string_view service, LogLevel level);
bool log_wants(LogLevel level);
// Control characters are written as \xNN, so that no peer's text can forge a line. What is beyond 4 KB is left out.
void log_line(LogLevel level, std::string_view message);

template <class... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_wants(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::debug, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::info, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::warning, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::error, format, std::forward<Args>(args)...);
}

// Lines that could not be written since the process began: the disk of the log is full, the log has reached the limit on a
// file's size, its reader is gone, or does not read (no thread ever waits for it). The process goes on without them, and says
// how many there were once it can. Thread-safe.
uint64_t log_lines_lost();

}  // namespace slipstream
