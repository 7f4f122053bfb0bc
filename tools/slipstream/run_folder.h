// The files that the services of a fleet leave in its run folder: logs/NAME-PID-SERVICE.log and
// ports/NAME-PID-SERVICE.json, where NAME is the fleet's and PID is the process that started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream::command {

class RunFolder {
 public:
  RunFolder(std::filesystem::path folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}

  // Makes both folders, and removes files of earlier fleets of this name whose process has ended.
  // Error: which folder cannot be made.
  Result<void> prepare() const;

  std::filesystem::path logs() const { return folder_ / "logs"; }
  std::filesystem::path log(std::string_view service) const;
  std::filesystem::path port_file(std::string_view service) const;

 private:
  std::filesystem::path folder_;
  std::string name_;
};

// The ports that a service says it bound (common/config/port_file.h).
struct Ports {
  pid_t pid = -1;
  uint16_t http = 0;     // the router's API; its /metrics is there too
  std::string bind;      // "tcp://127.0.0.1:7300": the router's for workers, the drafter's for verifiers
  uint16_t metrics = 0;  // a worker's own page
};

// nullopt: the file is not there yet.
std::optional<Ports> read_ports(const std::filesystem::path& file);

// Size of a log in bytes; 0: it is not there.
uintmax_t log_size(const std::filesystem::path& log);

// The last line from byte `begin` on, without its time, level and service; "": there is none. Of a
// long log only the end is read.
std::string last_sentence(const std::filesystem::path& log, uintmax_t begin);

// The last 12 lines, each on a line of its own behind "\n  | ".
std::string log_tail(const std::filesystem::path& log);

// Adds a line, if it can be written.
void note_in_log(const std::filesystem::path& log, std::string_view line);

}  // namespace slipstream::command
