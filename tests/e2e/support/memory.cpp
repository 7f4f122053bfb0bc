#include "tests/e2e/support/memory.h"

#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace slipstream::e2e {

Memory memory_of(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  Memory memory;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) memory.now = std::stod(line.substr(6)) / 1024;
    if (line.starts_with("VmHWM:")) memory.peak = std::stod(line.substr(6)) / 1024;
  }
  if (memory.now == 0) throw std::runtime_error(fmt::format("process {} has ended", pid));
  return memory;
}

void forget_peak(pid_t pid) { std::ofstream(fmt::format("/proc/{}/clear_refs", pid)) << 5; }

}  // namespace slipstream::e2e
