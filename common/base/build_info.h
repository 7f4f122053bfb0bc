// The version and build of this binary, as --version, the metric slipstream_build_info and the
// first line of a log show them.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

struct BuildInfo {
  std::string_view version;   // the project's version: "0.1.0"
  std::string_view revision;  // `git describe` at the time of `cmake`; "unknown" outside a checkout
  std::string_view compiler;  // "GNU 12.2.0"
  std::string_view build;     // "Release", or "Debug address,undefined"
};

BuildInfo build_info();
std::string build_summary();  // "0.1.0 (40badec, GNU 12.2.0, Release)"

}  // namespace slipstream
