// Reads the log of a service that this process started, and adds a line to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace slipstream::command {

// Returns the size of a log in bytes, 0 if it does not exist.
uintmax_t log_size(const std::filesystem::path& log);

// Returns the last line from byte `begin` on, without its time, level and service; "" if there is
// none. Reads only the end of a long log.
std::string last_sentence(const std::filesystem::path& log, uintmax_t begin);

// Returns the last sentence of the log that begins so; "" if there is none.
std::string sentence_that_begins(const std::filesystem::path& log, std::string_view beginning);

// Returns the last 12 lines, each behind "\n  | ".
std::string log_tail(const std::filesystem::path& log);

// Appends a line, as JSON or as text, and ignores a failure to do so.
void note_in_log(const std::filesystem::path& log, std::string_view line, bool json);

inline constexpr size_t kWarningsToldMax = 20;  // of one life

// The warnings of one life of a service, for the one who started it and does not read its log.
class LogWarnings {
 public:
  LogWarnings() = default;  // of no log
  LogWarnings(std::filesystem::path log, uintmax_t begin) : log_(std::move(log)), next_(begin) {}

  // Those since the last call, without time, level and service. After kWarningsToldMax, which the
  // last one says, there are none.
  std::vector<std::string> fresh();

 private:
  std::filesystem::path log_;
  uintmax_t next_ = 0;  // bytes before it were read
  size_t told_ = 0;
};

}  // namespace slipstream::command
