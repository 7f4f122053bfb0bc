// A step's numbers on the device. Private to common/model/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include "common/model/ops.h"
#include "common/model/torch/torch_types.h"

namespace slipstream {

// Index tensors are i64, as torch wants them. CudaStep leaves out position, block and offset, which
// its kernels have in another form.
struct TorchStep {
  const Step* host = nullptr;
  at::Tensor token, position, parent_slot;  // [rows]
  at::Tensor slot, block, offset;           // [rows] slot = block * kBlockTokens + offset
  at::Tensor wanted;                        // [wanted]
  at::Tensor extra_token, extra_bonus;      // [rows, kExtraTokens] i64, -1: none, and f32; of a draft pass that has some

  static TorchStep on(const TorchPlace& place, const Step& step);
};

// Writes them apart, [extra] each.
void write_extra(std::span<const ExtraToken> extra, int64_t* tokens, float* bonuses);

// [numbers] on the device.
at::Tensor index_tensor(std::span<const int32_t> numbers, const TorchPlace& place);

}  // namespace slipstream
