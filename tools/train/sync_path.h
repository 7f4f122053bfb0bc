// What was written to a file, or renamed in a folder, outlasts a power cut.
#pragma once

#include <filesystem>

namespace slipstream::train {

// Returns 0, or errno.
int sync_path(const std::filesystem::path& path);

}  // namespace slipstream::train
