#include "tools/slipstream/service_log.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "common/base/log_json.h"
#include "common/config/settings.h"

namespace slipstream::command {
namespace {

constexpr uintmax_t kLastBytes = 64 * 1024;  // the last line is searched in these
constexpr size_t kLogTailLines = 12;
constexpr size_t kTimeEnd = 23;  // of a line of base/log.cpp, "2026-11-22T01:54:48.355 error   router: sentence"

bool is_json(std::string_view line) { return !message_of_json_line(line).empty(); }

bool is_text_of_ours(std::string_view line) {
  return line.size() > kTimeEnd && line[4] == '-' && line[10] == 'T' && line[kTimeEnd] == ' ';
}

// Removes the prefix of our own log lines, or gives the message of a line of JSON. Other lines are
// returned whole.
std::string sentence_of(const std::string& line) {
  if (is_json(line)) return message_of_json_line(line);
  const size_t colon = is_text_of_ours(line) ? line.find(": ", kTimeEnd) : line.npos;
  return colon == line.npos ? line : line.substr(colon + 2);
}

// The last line may be a hint on --help, which says nothing of the cause; it is passed over.
std::string last_line(const std::filesystem::path& log, uintmax_t begin) {
  const uintmax_t end = log_size(log);
  if (end <= begin) return "";
  std::ifstream file(log);
  file.seekg(static_cast<std::streamoff>(std::max(begin, end - std::min(end, kLastBytes))));
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with(kHelpHint)) last = std::move(line);
  }
  return last;
}

bool is_warning(const std::string& line) {
  if (is_json(line)) return line.find(R"("level":"warning")") < line.find(R"("message":)");
  return is_text_of_ours(line) && std::string_view(line).substr(kTimeEnd + 1).starts_with("warning ");
}

}  // namespace

uintmax_t log_size(const std::filesystem::path& log) {
  std::error_code none;
  const uintmax_t size = std::filesystem::file_size(log, none);
  return none ? 0 : size;
}

std::string last_sentence(const std::filesystem::path& log, uintmax_t begin) { return sentence_of(last_line(log, begin)); }

std::string sentence_that_begins(const std::filesystem::path& log, std::string_view beginning) {
  std::ifstream file(log);
  std::string found;
  for (std::string line; std::getline(file, line);) {
    if (std::string sentence = sentence_of(line); sentence.starts_with(beginning)) found = std::move(sentence);
  }
  return found;
}

std::string log_tail(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > kLogTailLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n  | " + line;
  return text;
}

void note_in_log(const std::filesystem::path& log, std::string_view line, bool json) {
  const LogRecord record{
      .time = std::chrono::system_clock::now(), .level = "warning", .service = "slipstream", .message = line};
  std::ofstream(log, std::ios::app) << (json ? json_line(record) : fmt::format("slipstream: {}", line)) << '\n';
}

// A line that is not ended yet is read when it is.
std::vector<std::string> LogWarnings::fresh() {
  std::vector<std::string> warnings;
  if (told_ >= kWarningsToldMax || log_size(log_) <= next_) return warnings;
  std::ifstream file(log_);
  file.seekg(static_cast<std::streamoff>(next_));
  for (std::string line; told_ < kWarningsToldMax && std::getline(file, line) && !file.eof();) {
    next_ += line.size() + 1;
    if (!is_warning(line)) continue;
    warnings.push_back(sentence_of(line));
    if (++told_ == kWarningsToldMax) warnings.back() += "; further warnings are in its log";
  }
  return warnings;
}

}  // namespace slipstream::command
