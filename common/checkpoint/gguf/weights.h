// Gives access to the weights of a GGUF file by Hugging Face's names and with Hugging Face's order
// of rows. Nothing is copied.
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
  // As in Checkpoint.
  uint64_t bytes() const;
  Result<HostMatrix> matrix(std::string_view name, int32_t rows, int32_t cols) const;

 private:
  explicit GgufWeights(GgufFile file) : file_(std::move(file)) {}
  int32_t paired_heads(std::string_view name) const;

  GgufFile file_;
  bool post_norms_ = false;                               // for gguf_name()
  int32_t paired_query_heads_ = 0, paired_kv_heads_ = 0;  // for HostMatrix::paired_heads; 0: in Hugging Face's order
};

}  // namespace slipstream
