// The ports that a service says it bound (common/config/port_file.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace slipstream::command {

struct Ports {
  pid_t pid = -1;
  uint16_t http = 0;     // the router's API; its /metrics is there too
  std::string bind;      // "tcp://127.0.0.1:7300": the router's for workers, the drafter's for verifiers
  uint16_t metrics = 0;  // a worker's own page
};

// nullopt: the file is not there yet.
std::optional<Ports> read_ports(const std::filesystem::path& file);

}  // namespace slipstream::command
