// One line an event, to stderr: time, level, service, message. The only door to the logging
// library, which stays out of this header: it costs seconds to include. Thread-safe. Before
// log_start() lines carry the service "slipstream" at level info.
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
// Control characters are written as \xNN, so that no peer's text can forge a line. What is beyond 4
// KB is left out. A line that cannot be written (a full disk, a reader that has gone) is lost, and
// the process goes on.
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

}  // namespace slipstream
