#include "tools/slipstream/run_folder.h"

#include <signal.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <system_error>

#include "common/base/log_json.h"
#include "common/config/settings.h"

namespace slipstream::command {
namespace {

constexpr uintmax_t kLastBytes = 64 * 1024;  // the last line is searched in these
constexpr size_t kLogTailLines = 12;

// Removes the files "NAME-PID-..." whose process has ended.
void remove_files_of_the_dead(const std::filesystem::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(name + "-")) continue;
    const char *begin = file.data() + name.size() + 1, *end = file.data() + file.size();
    pid_t pid = 0;
    const auto number = std::from_chars(begin, end, pid);
    if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '-') continue;
    if (kill(pid, 0) != 0 && errno == ESRCH) std::filesystem::remove(entry.path(), ignored);
  }
}

std::string text(simdjson::dom::element root, const char* name) {
  std::string_view value;
  return root[name].get(value) == simdjson::SUCCESS ? std::string(value) : "";
}

uint16_t port(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == std::string::npos ? uint16_t{0}
                                    : static_cast<uint16_t>(std::strtoul(address.c_str() + colon + 1, nullptr, 10));
}

bool is_json(std::string_view line) { return !message_of_json_line(line).empty(); }

// Removes the prefix of our own log lines, "2026-11-22T01:54:48.355 error   router: sentence"
// (base/log.cpp), or gives the message of a line of JSON. Other lines are returned whole.
std::string sentence_of(const std::string& line) {
  if (is_json(line)) return message_of_json_line(line);
  constexpr size_t kTimeEnd = 23;
  const bool ours = line.size() > kTimeEnd && line[4] == '-' && line[10] == 'T' && line[kTimeEnd] == ' ';
  const size_t colon = ours ? line.find(": ", kTimeEnd) : line.npos;
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

}  // namespace

Result<void> RunFolder::prepare() const {
  for (const char* part : {"logs", "ports"}) {
    std::error_code error;
    std::filesystem::create_directories(folder_ / part, error);
    if (error) return fail("cannot make {}: {}", (folder_ / part).string(), error.message());
    remove_files_of_the_dead(folder_ / part, name_);
  }
  return {};
}

std::filesystem::path RunFolder::log(std::string_view service) const {
  return logs() / fmt::format("{}-{}-{}.log", name_, getpid(), service);
}

std::filesystem::path RunFolder::port_file(std::string_view service) const {
  return folder_ / "ports" / fmt::format("{}-{}-{}.json", name_, getpid(), service);
}

// A service writes its port file in one rename, so a file that exists is complete
// (common/config/port_file.h).
std::optional<Ports> read_ports(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.load(file.string()).get(root) != simdjson::SUCCESS) return std::nullopt;
  int64_t pid = -1;
  if (root["pid"].get(pid) != simdjson::SUCCESS) return std::nullopt;
  return Ports{static_cast<pid_t>(pid), port(text(root, "http")), text(root, "bind"), port(text(root, "metrics"))};
}

uintmax_t log_size(const std::filesystem::path& log) {
  std::error_code none;
  const uintmax_t size = std::filesystem::file_size(log, none);
  return none ? 0 : size;
}

std::string last_sentence(const std::filesystem::path& log, uintmax_t begin) { return sentence_of(last_line(log, begin)); }

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

void note_in_log(const std::filesystem::path& log, std::string_view line) {
  const LogRecord record{
      .time = std::chrono::system_clock::now(), .level = "warning", .service = "slipstream", .message = line};
  const bool json = is_json(last_line(log, 0));
  std::ofstream(log, std::ios::app) << (json ? json_line(record) : fmt::format("slipstream: {}", line)) << '\n';
}

}  // namespace slipstream::command
