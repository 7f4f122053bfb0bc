// Tensors as a trained model's file has them: rounded to bf16.
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "tools/train/safetensors_writer.h"
#include "tools/train/weights.h"

namespace slipstream::train {

// Owns the rounded tensors, of which it gives the bytes.
class Bf16Tensors {
 public:
  Bf16Tensors() = default;
  explicit Bf16Tensors(const Weights& weights);  // all of them

  void add(const std::string& name, const at::Tensor& value);
  const std::vector<StoredTensor>& stored() const { return stored_; }  // in the order of adding

 private:
  std::vector<at::Tensor> rounded_;
  std::vector<StoredTensor> stored_;
};

}  // namespace slipstream::train
