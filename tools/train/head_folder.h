// Writes a draft head as a folder of published EAGLE-3 form: config.json and model.safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"
#include "tools/train/head_config.h"
#include "tools/train/weights.h"

namespace slipstream::train {

struct HeadFile {
  const HeadConfig& config;
  const std::vector<float>& scales;  // of features: the file's fc takes them as the target gives them
  uint64_t target_weights = 0;       // the target's hash (fingerprint.h)
};

// target_output: as in the service's HeadConfig.
std::string head_config_json(const HeadFile& head, bool target_output);

// output: [draft vocabulary, hidden] the target's rows. If the head's are these, the configuration
// says so. The weights are written in bf16, last and at once: a reader finds those of the former
// head or the new ones. Beside head_tensors() there is d2t [draft vocabulary] i64: the target's id
// of row i is i + d2t[i].
Result<void> write_head_folder(const std::filesystem::path& folder, const HeadFile& head, const at::Tensor& output,
                               const Weights& weights);

// Reads what write_head_folder() wrote, into weights whose fc takes scaled features. The draft
// vocabulary may be another one: `output` [draft vocabulary, hidden] gives the rows of tokens
// that the folder's head cannot draft. An error if it has another shape, other layers or another
// target.
Result<Weights> read_head_folder(const std::filesystem::path& folder, const HeadFile& head, const at::Tensor& output);

}  // namespace slipstream::train
