// What runs: for --version, slipstream_build_info and the first line of a log.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

struct BuildInfo {
  std::string_view version;   // of the project: "0.1.0"
  std::string_view revision;  // `git describe` when the build was configured; "unknown" outside a checkout
  std::string_view compiler;  // "GNU 12.2.0"
  std::string_view build;     // "Release", or "Debug address,undefined"
};

BuildInfo build_info();
std::string build_summary();  // "0.1.0 (40badec, GNU 12.2.0, Release)"

}  // namespace slipstream
