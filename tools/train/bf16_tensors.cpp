#include "tools/train/bf16_tensors.h"

#include <ATen/core/grad_mode.h>

namespace slipstream::train {

Bf16Tensors::Bf16Tensors(const Weights& weights) {
  for (const Parameter& parameter : weights.all()) add(parameter.spec.name, parameter.value);
}

void Bf16Tensors::add(const std::string& name, const at::Tensor& value) {
  const at::NoGradGuard no_gradients;
  const at::Tensor& tensor = rounded_.emplace_back(value.to(at::kBFloat16).to(at::kCPU).contiguous());
  stored_.push_back({.name = name,
                     .dtype = "BF16",
                     .shape = tensor.sizes().vec(),
                     .bytes = {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()}});
}

}  // namespace slipstream::train
