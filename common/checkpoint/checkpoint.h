// All weights of a model, a Hugging Face folder's or a GGUF file's, by Hugging Face's names.
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

// Views that it hands out live as long as it does, wherever it is moved.
class Checkpoint {
 public:
  static Result<Checkpoint> open(const std::filesystem::path& model);
  bool has(std::string_view name) const;
  uint64_t bytes() const;  // of all tensors, as they are stored
  // Errors name the tensor, what was found and what was expected. A vector is asked for as rows =
  // 1, or as cols = 1.
  Result<HostMatrix> matrix(std::string_view name, int32_t rows, int32_t cols) const;

 private:
  const TensorEntry* find(std::string_view name) const;

  std::string folder_;
  std::vector<SafetensorsFile> files_;
  std::optional<GgufWeights> gguf_;  // then neither of the above
};

}  // namespace slipstream
