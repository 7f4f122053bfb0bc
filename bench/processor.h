// Names the processor, for the header of a benchmark's output.
#pragma once

#include <fstream>
#include <string>

namespace slipstream {

// Returns the processor's name as the kernel reports it. Every benchmark prints it with its
// figures.
inline std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace slipstream
