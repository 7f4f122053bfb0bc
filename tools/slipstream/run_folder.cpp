#include "tools/slipstream/run_folder.h"

#include <signal.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <system_error>


namespace slipstream::command {
namespace {

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

}  // namespace slipstream::command
