// The log file of a service that a supervisor keeps: what it said last, and a line of the supervisor's own beside the
// service's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace slipstream::command {

// Bytes of it; 0: it is not there.
uintmax_t log_size(const std::filesystem::path& log);

// The last line from byte `begin` on, without its time, level and service; "": there is none. Of a long log only the end is
// read.
std::string last_sentence(const std::filesystem::path& log, uintmax_t begin);

// Adds a line, if it can be written.
void note_in_log(const std::filesystem::path& log, std::string_view line);

}  // namespace slipstream::command
