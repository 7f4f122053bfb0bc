// The numbers that training changes: f32 tensors under the names that a model's files give them.
//
//   TRY(Weights weights, Weights::load(checkpoint, llama_tensors(config)));
//   const at::Tensor& gain = weights.at("model.norm.weight");
//
// A tensor is shared by all copies of its handle, as always in torch: a module that keeps
// weights.at(name) sees what the optimiser writes. Tensors record gradients.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"
#include "common/checkpoint/checkpoint.h"
#include "tools/train/tensor_list.h"

namespace slipstream::train {

struct Parameter {
  TensorSpec spec;
  at::Tensor value;  // [rows, cols], or [cols] of a vector; f32, contiguous
};

class Weights {
 public:
  // Reads these tensors; small formats become the floats that they stand for. Errors name the
  // tensor and what is wrong with it. layers: whose tensors those of layer 0, 1, ... are, one
  // for each of them; empty: of these layers themselves.
  static Result<Weights> load(const Checkpoint& checkpoint, const std::vector<TensorSpec>& specs,
                              std::span<const int32_t> layers = {});
  // As GPT-2 begins (Radford et al. 2019, section 2.3): matrices and embeddings are normal with
  // deviation 0.02, those that add to the residual with 0.02 / sqrt(2 layers); gains are 1, biases
  // 0. Equal seeds give equal bits.
  static Weights random(const std::vector<TensorSpec>& specs, int32_t layers, uint64_t seed);

  // Of each number the mean over trainings of one shape: often better than each of them (Wortsman
  // et al., "Model soups", 2203.05482). REQUIRES: there is one; all have equal tensors.
  static Weights mean(std::span<const Weights> trained);

  // On that device: copies, or these tensors if they are there.
  Weights on(at::Device device) const;
  // All but that one; the tensors are shared.
  Weights without(std::string_view name) const;

  // REQUIRES: there is such a tensor.
  const at::Tensor& at(std::string_view name) const;
  std::span<const Parameter> all() const { return parameters_; }
  int64_t numbers() const;  // of all tensors together

 private:
  void add(TensorSpec spec, at::Tensor value);

  std::vector<Parameter> parameters_;
  std::map<std::string, size_t, std::less<>> index_;
};

}  // namespace slipstream::train
