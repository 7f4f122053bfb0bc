// The tensors of a Llama-family model: their names and shapes, as its files have them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checkpoint/llama_config.h"

namespace slipstream::train {

// What a tensor is for decides how it begins (weights.h).
enum class TensorRole : uint8_t {
  embedding,  // [vocabulary, hidden]; also an untied output head
  matrix,     // of a linear layer
  output,     // the matrix of a block whose product is added to the residual
  gain,       // of a norm
  bias,       // of a linear layer
};

struct TensorSpec {
  std::string name;  // as in a Hugging Face folder: "model.layers.0.mlp.up_proj.weight"
  TensorRole role = TensorRole::matrix;
  int32_t rows = 0, cols = 0;  // a gain or bias is a vector: rows is 1, and files have the shape [cols]

  bool is_vector() const { return role == TensorRole::gain || role == TensorRole::bias; }
};

// Those of one block, whose names begin with `prefix`: "model.layers.0.".
std::vector<TensorSpec> block_tensors(const LlamaConfig& config, const std::string& prefix);
// All of the model, in the order in which the forward pass uses them.
std::vector<TensorSpec> llama_tensors(const LlamaConfig& config);

}  // namespace slipstream::train
