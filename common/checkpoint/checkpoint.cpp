#include "common/checkpoint/checkpoint.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace slipstream {
namespace {

std::string shape_text(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::filesystem::path& model) {
  Checkpoint checkpoint;
  if (is_model_file(model)) {
    TRY(checkpoint.gguf_, GgufWeights::open(model));
    return checkpoint;
  }
  TRY(const auto paths, weight_files(model));
  checkpoint.folder_ = model.string();
  for (const auto& path : paths) {
    TRY(SafetensorsFile file, SafetensorsFile::open(path));
    for (const auto& [name, tensor] : file.tensors()) {
      // Two shards with the same tensor: which one is used would depend on the order of their
      // names.
      if (checkpoint.has(name)) return fail("{} holds tensor {:.100} of another file again", path.string(), name);
    }
    checkpoint.files_.push_back(std::move(file));
  }
  return checkpoint;
}

uint64_t Checkpoint::bytes() const {
  if (gguf_) return gguf_->bytes();
  uint64_t bytes = 0;
  for (const SafetensorsFile& file : files_) {
    for (const auto& [name, tensor] : file.tensors()) bytes += tensor.bytes.size();
  }
  return bytes;
}

bool Checkpoint::has(std::string_view name) const { return gguf_ ? gguf_->has(name) : find(name) != nullptr; }

const TensorEntry* Checkpoint::find(std::string_view name) const {
  for (const SafetensorsFile& file : files_) {
    if (const auto at = file.tensors().find(name); at != file.tensors().end()) return &at->second;
  }
  return nullptr;
}

Result<HostMatrix> Checkpoint::matrix(std::string_view name, int32_t rows, int32_t cols) const {
  if (gguf_) return gguf_->matrix(name, rows, cols);
  const TensorEntry* tensor = find(name);
  if (tensor == nullptr) return fail("{}: tensor {} is missing; its config.json describes another model", folder_, name);
  const bool vector = std::min(rows, cols) == 1 && tensor->shape == std::vector<int64_t>{std::max(rows, cols)};
  if (!vector && tensor->shape != std::vector<int64_t>{rows, cols}) {
    return fail("{}: tensor {} has shape {}, its config.json asks for [{}, {}]", folder_, name, shape_text(tensor->shape), rows,
                cols);
  }
  if (reinterpret_cast<uintptr_t>(tensor->bytes.data()) % 2 != 0) {
    return fail("{}: tensor {} begins at an odd byte: save it again with a current safetensors", folder_, name);
  }
  HostMatrix matrix{.name = name, .dtype = Dtype::bf16, .rows = rows, .cols = cols, .bytes = tensor->bytes};
  if (tensor->dtype == "F32") {
    matrix.dtype = Dtype::f32;
  } else if (tensor->dtype == "F16") {
    matrix.dtype = Dtype::f16;
  } else if (tensor->dtype != "BF16") {
    return fail("{}: tensor {} is {}, supported are F32, F16 and BF16: convert the model first", folder_, name, tensor->dtype);
  }
  return matrix;
}

}  // namespace slipstream
