#pragma once

#include <fstream>
#include <string>

namespace slipstream {

// As the kernel names it: stands beside every figure.
inline std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace slipstream
