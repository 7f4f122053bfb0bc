// What a training decides from its data before the first step: which tokens the head can draft, and
// by what its features are divided. Both are kept beside the checkpoint: weights mean nothing
// without them, and another device computes slightly other features.
#pragma once

#include <filesystem>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "tools/train/head_config.h"

namespace slipstream::train {

struct HeadReading {
  std::vector<TokenId> vocabulary;  // HeadConfig's
  std::vector<float> scales;        // feature_scales()

  bool operator==(const HeadReading&) const = default;
};

// safetensors_writer.h says what an error leaves.
Result<void> write_reading(const std::filesystem::path& path, const HeadReading& reading);
// An error if the file is none, or damaged.
Result<HeadReading> read_reading(const std::filesystem::path& path);

}  // namespace slipstream::train
