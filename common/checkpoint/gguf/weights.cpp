#include "common/checkpoint/gguf/weights.h"

#include <fmt/ranges.h>

#include "common/checkpoint/gguf/config.h"
#include "common/checkpoint/gguf/names.h"

namespace slipstream {

Result<GgufWeights> GgufWeights::open(const std::filesystem::path& path) {
  TRY(GgufFile file, GgufFile::open(path));
  TRY(const LlamaConfig config, read_gguf_config(file));
  TRY(const std::string_view architecture, file.fields().text("general.architecture"));
  GgufWeights weights(std::move(file));
  weights.post_norms_ = config.post_norms;
  // llama.cpp rotates neighbouring rows for the architecture "llama", and row i with row half + i
  // for all others. Its converter reorders the rows of "llama" accordingly.
  if (architecture == "llama") {
    weights.paired_query_heads_ = config.heads;
    weights.paired_kv_heads_ = config.kv_heads;
  }
  return weights;
}

bool GgufWeights::has(std::string_view name) const {
  const auto gguf = gguf_name(name, post_norms_);
  return gguf && file_.has(*gguf);
}

uint64_t GgufWeights::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : file_.tensors()) bytes += tensor.bytes.size();
  return bytes;
}

int32_t GgufWeights::paired_heads(std::string_view name) const {
  if (name.find(".q_proj.") != name.npos) return paired_query_heads_;
  if (name.find(".k_proj.") != name.npos) return paired_kv_heads_;
  return 0;
}

Result<HostMatrix> GgufWeights::matrix(std::string_view name, int32_t rows, int32_t cols) const {
  const auto gguf = gguf_name(name, post_norms_);
  if (!gguf || !file_.has(*gguf)) {
    return fail("{}: tensor {} is missing; its metadata describes another model", file_.what(),
                gguf.value_or(std::string(name)));
  }
  const GgufTensor& tensor = file_.tensors().at(*gguf);
  // A vector as a column would have one number in each row, which a block of 32 cannot store.
  const bool vector = (rows == 1 && tensor.shape == std::vector<int64_t>{cols}) ||
                      (cols == 1 && tensor.shape == std::vector<int64_t>{rows} && block_of(tensor.dtype).numbers == 1);
  if (!vector && tensor.shape != std::vector<int64_t>{rows, cols}) {
    return fail("{}: tensor {} has shape [{}], its metadata asks for [{}, {}]", file_.what(), *gguf,
                fmt::join(tensor.shape, ", "), rows, cols);
  }
  return HostMatrix{.name = name,
                    .dtype = tensor.dtype,
                    .rows = rows,
                    .cols = cols,
                    .bytes = tensor.bytes,
                    .paired_heads = paired_heads(name)};
}

}  // namespace slipstream
