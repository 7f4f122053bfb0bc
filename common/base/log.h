// The process's log: one line per event on stderr, with time, level, service and message.
//
//   log_start("router", LogLevel::info);
//   log_info("listening on {}", endpoint);
//
// Before log_start(), lines have the service name "slipstream" and the level is info. No other code
// uses the logging library, and this header does not include it: that would cost seconds per file.
//
// Thread-safe.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace slipstream {

enum class LogLevel { debug, info, warning, error, off };

inline constexpr std::string_view kLogLevelNames = "debug, info, warning, error or off";
// The level of this name; nullopt: there is none.
std::optional<LogLevel> log_level_from(std::string_view name);

// Sets the service name and the lowest level of later lines.
void log_start(std::string_view service, LogLevel level);
// Whether lines of this level are written. The functions below check it before they format a text.
bool log_wants(LogLevel level);
// Writes one line: what would leave it becomes \xNN (base/printable.h), so that a peer's text
// cannot forge a line. A message of more than 4 KB is cut. A line that cannot be written (full
// disk, closed reader) is lost, and the process goes on.
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
