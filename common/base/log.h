// The process's log: one line per event on stderr, with time, level, service and message, as text
// or as JSON (log_json.h).
//
//   log_start("router", LogLevel::info);
//   log_info("listening on {}", endpoint);
//
// Before log_start(), lines have the service name "slipstream" and the level is info. No other code
// uses the logging library, and this header does not include it: that would cost seconds per file.
//
// Thread-safe.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/base/log_json.h"

namespace slipstream {

enum class LogLevel { debug, info, warning, error, off };

inline constexpr std::string_view kLogLevelNames = "debug, info, warning, error or off";
// The level of this name; nullopt: there is none.
std::optional<LogLevel> log_level_from(std::string_view name);

enum class LogFormat { text, json };

inline constexpr std::array<std::string_view, 2> kLogFormatNames{"text", "json"};
// The format of this name; text if there is none.
LogFormat log_format_from(std::string_view name);

// Sets the service name, the lowest level and the format of later lines.
void log_start(std::string_view service, LogLevel level, LogFormat format = LogFormat::text);
// Whether lines of this level are written. The functions below check it before they format a text.
bool log_wants(LogLevel level);
// Writes one line. Text: what would leave it becomes \xNN (base/printable.h), so that a peer's text
// cannot forge a line, and the fields are left out, because the message says the same in words. A
// message of more than 4 KB is cut. A line that cannot be written (full disk, closed reader) is
// lost, and the process goes on.
void log_line(LogLevel level, std::string_view message, std::span<const LogField> fields = {});

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
