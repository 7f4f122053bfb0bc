// Gives access to all weights of a model by their Hugging Face names, whether the model is a
// Hugging Face folder (safetensors) or a GGUF file. Immutable after open(); thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/checkpoint/gguf/weights.h"
#include "common/checkpoint/host_matrix.h"
#include "common/checkpoint/safetensors.h"

namespace slipstream {

// The views that matrix() returns are valid while the checkpoint lives, also after it was moved.
class Checkpoint {
 public:
  static Result<Checkpoint> open(const std::filesystem::path& model);
  bool has(std::string_view name) const;
  uint64_t bytes() const;  // of all tensors as stored
  // The tensor `name`, which must have the shape [rows, cols]; a vector is asked for with rows = 1
  // or cols = 1. Errors say which tensor, what was found, and what was expected.
  Result<HostMatrix> matrix(std::string_view name, int32_t rows, int32_t cols) const;

 private:
  const TensorEntry* find(std::string_view name) const;

  // Either a folder and its files, or a GGUF file.
  std::string folder_;
  std::vector<SafetensorsFile> files_;
  std::optional<GgufWeights> gguf_;
};

}  // namespace slipstream
