// A line of the log as JSON, for those who collect logs:
//
//   {"time":"2026-11-22T01:54:48.355Z","level":"info","service":"router","message":"...","status":200}
//
// It is one line of valid JSON in ASCII, whatever bytes a peer's text has: control characters are
// escaped, and bytes that are no UTF-8 become U+FFFD. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace slipstream {

// What a line tells beside its message, for machines. REQUIRES: another name than the four above.
struct LogField {
  std::string_view name;
  std::variant<std::string_view, int64_t> value;
};

struct LogRecord {
  std::chrono::system_clock::time_point time;
  std::string_view level, service, message;
  std::span<const LogField> fields = {};
};

inline constexpr size_t kLogTextBytesMax = 4096 - 128;  // of a message or a field; what is longer is cut

// Without the newline.
std::string json_line(const LogRecord& record);
// The message of such a line; "" if it is none.
std::string message_of_json_line(std::string_view line);
// The text, or its beginning with "..." behind it.
std::string cut_for_log(std::string_view text);

}  // namespace slipstream
