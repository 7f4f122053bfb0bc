// The files of a fleet in its run folder: logs/NAME-PID-SERVICE.log and
// ports/NAME-PID-SERVICE.json, where NAME is the fleet's name and PID is the process that started
// the fleet.
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

  // Makes both folders and removes files of earlier fleets of this name whose process has ended.
  // Error: which folder cannot be made.
  Result<void> prepare() const;

  std::filesystem::path logs() const { return folder_ / "logs"; }
  std::filesystem::path log(std::string_view service) const;
  std::filesystem::path port_file(std::string_view service) const;

 private:
  std::filesystem::path folder_;
  std::string name_;
};

// The ports that a service bound, as its port file says (common/config/port_file.h).
struct Ports {
  pid_t pid = -1;
  uint16_t http = 0;     // the router's API and /metrics
  std::string bind;      // "tcp://127.0.0.1:7300": the router's for workers, or the drafter's for verifiers
  uint16_t metrics = 0;  // a worker's own HTTP page
};

// nullopt: the file does not exist yet.
std::optional<Ports> read_ports(const std::filesystem::path& file);

}  // namespace slipstream::command
