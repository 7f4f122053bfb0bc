// The weights of a GGUF file under Hugging Face's names and in its order of rows, as they are
// stored: nothing is copied.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/host_matrix.h"

namespace slipstream {

class GgufWeights {
 public:
  static Result<GgufWeights> open(const std::filesystem::path& path);
  bool has(std::string_view name) const;
  uint64_t bytes() const;  // as Checkpoint::bytes
  // As Checkpoint::matrix.
  Result<HostMatrix> matrix(std::string_view name, int32_t rows, int32_t cols) const;

 private:
  explicit GgufWeights(GgufFile file) : file_(std::move(file)) {}
  int32_t paired_heads(std::string_view name) const;

  GgufFile file_;
  int32_t paired_query_heads_ = 0, paired_kv_heads_ = 0;  // 0: this architecture's rows are stored in Hugging Face's order
};

}  // namespace slipstream
