#include "tools/slipstream/service_log.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "common/config/settings.h"

namespace slipstream::command {
namespace {

constexpr uintmax_t kLastBytes = 4096;  // the last line is looked for there

// "2026-11-22T01:54:48.355 error   router: sentence" (base/log.cpp); other lines are whole sentences.
std::string sentence_of(const std::string& line) {
  constexpr size_t kTimeEnd = 23;
  const bool ours = line.size() > kTimeEnd && line[4] == '-' && line[10] == 'T' && line[kTimeEnd] == ' ';
  const size_t colon = ours ? line.find(": ", kTimeEnd) : line.npos;
  return colon == line.npos ? line : line.substr(colon + 2);
}

}  // namespace

uintmax_t log_size(const std::filesystem::path& log) {
  std::error_code none;
  const uintmax_t size = std::filesystem::file_size(log, none);
  return none ? 0 : size;
}

std::string last_sentence(const std::filesystem::path& log, uintmax_t begin) {
  const uintmax_t end = log_size(log);
  if (end <= begin) return "";
  std::ifstream file(log);
  file.seekg(static_cast<std::streamoff>(std::max(begin, end - std::min(end, kLastBytes))));
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with(kHelpHint)) last = std::move(line);
  }
  return sentence_of(last);
}

void note_in_log(const std::filesystem::path& log, std::string_view line) { std::ofstream(log, std::ios::app) << line << '\n'; }

}  // namespace slipstream::command
