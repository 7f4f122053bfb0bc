// Writes safetensors files (checkpoint/safetensors.h reads them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace slipstream::train {

struct StoredTensor {
  std::string name;
  std::string dtype;  // "F32", "BF16"
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

// Makes a file of these tensors, or puts one in the place of the file that is there. At every
// moment a reader finds the former file or the whole new one, also after a kill or a power cut: the
// new one is written beside it, synced, and renamed. An error (a full disk) leaves the former file
// as it is.
Result<void> write_safetensors(const std::filesystem::path& path, std::span<const StoredTensor> tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace slipstream::train
