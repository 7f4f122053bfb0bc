// The torch devices' types behind the opaque types of common/model/ops.h. Private to
// common/model/torch.
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include "common/kv/block_pool.h"
#include "common/model/device.h"
#include "kernels/cuda/quantized_matrix.h"

namespace slipstream {

// Neighbouring rows of a weight in one small format: a matrix and the arrays that it points to
// (small_weight.h makes them).
struct SmallPart {
  at::Tensor scales, second, q, high;
  cuda::QuantizedMatrix matrix;
  int32_t first = 0;  // row of the weight
};

struct TorchWeight final : Weight {
  at::Tensor values;             // [out, in]; gains and biases in f32, matrices in the device's type
  std::vector<SmallPart> parts;  // of a matrix in few bits, which has no values
};

inline const at::Tensor& values(const Weight& weight) { return static_cast<const TorchWeight&>(weight).values; }

struct TorchRope final : RopeTable {
  at::Tensor cosine, sine;  // [positions, head_size / 2] f32
};

// data: [layers, blocks, kv_heads, keys and values, kBlockTokens, head_size] in the device's
// type, as kernels/cuda/cache.h has it. A GPU's has some blocks more, for rows of padding.
struct TorchCache final : KvCache {
  at::Tensor data;
  AttentionShape shape;
};

struct TorchPlane final : FeaturePlane {
  at::Tensor data;  // [slots, cols] f32
};

struct TorchColumnMap final : ColumnMap {
  at::Tensor columns;  // [narrow] i64
};

at::ScalarType scalar(Type type);

// Where the tensors of a device lie and what they are made of.
struct TorchPlace {
  at::Device device = at::kCPU;
  at::ScalarType type = at::kFloat;  // of matrices, caches and activations
  bool deterministic = false;
  bool row_invariant = false;         // as Device::row_invariant(): torch's own operations are on a CPU only
  std::optional<c10::Stream> stream;  // of a GPU: all that is done there

  at::TensorOptions of(at::ScalarType wanted) const { return at::TensorOptions(wanted).device(device); }
  // The rows of a tensor of the network as torch sees them.
  at::Tensor view(const Tensor& tensor) const;
};

}  // namespace slipstream
