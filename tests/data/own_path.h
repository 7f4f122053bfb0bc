// A path in the folder for temporary files that belongs to this process: tests run beside each
// other, and so do whole runs of them.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace slipstream {

inline std::filesystem::path own_path(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("slipstream-" + std::to_string(getpid()) + "-" + name);
}

}  // namespace slipstream
