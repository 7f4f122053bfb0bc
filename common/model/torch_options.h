// What a device of torch is made of (torch_library.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/device_name.h"
#include "common/base/result.h"
#include "common/model/device.h"
#include "common/model/ops.h"
#include "kernels/exact/quantized_block.h"

namespace slipstream {

// Matrices that stay in few bits, where the device has kernels for them: a GPU.
struct SmallMatrices {
  // Of all. Unset: as format_of() says (row_blocks.h); those of 16 bits and more are as the rest.
  std::optional<WeightFormat> format;
};

struct TorchOptions {
  DeviceName name;                     // torch_cpu or cuda
  int threads = 1;                     // of operations on a CPU
  Type type = Type::f32;               // of matrices, caches and activations; norms and logits are f32 in any case
  std::optional<SmallMatrices> small;  // REQUIRES: the type is bf16
  bool deterministic = false;          // a row's bits do not depend on the other rows of its step
};

// What `--weights` means on that device; "file": what is exact on a CPU, and what GPUs are made
// for. Errors: the device has no such weights.
Result<TorchOptions> torch_options(DeviceName name, std::string_view weights);

size_t bytes_of(Type type);  // of a number
// Bytes of a cache of keys and values, without room for padding.
size_t torch_cache_bytes(Type type, int layers, AttentionShape shape, int32_t blocks);

}  // namespace slipstream
