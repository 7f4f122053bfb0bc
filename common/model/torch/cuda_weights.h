// The distributions after rows of a step, weighed on the GPU: no row of logits is copied to the
// host. Private to common/model/torch.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "common/model/row_weigher.h"
#include "common/model/torch/cuda_edits.h"
#include "common/model/torch/cuda_kernels.h"
#include "common/model/torch/torch_types.h"

namespace slipstream {

class CudaWeights {
 public:
  CudaWeights(const TorchPlace& place, CudaKernels& kernels) : place_(place), kernels_(kernels) {}

  // As RowWeigher's. logits: [wanted, vocabulary] of the step; edits: of its rows.
  RowWeights weigh(const Step& step, std::span<const RowTokens> rows, Tensor logits, const CudaEdits& edits);
  TokenId token_at(size_t i, uint64_t mark, std::span<const TokenId> without);

 private:
  void make_room(int64_t rows, int64_t tokens);
  template <class T>
  T* host_at(int64_t offset) {
    return reinterpret_cast<T*>(host_.mutable_data_ptr<uint8_t>() + offset);
  }
  template <class T>
  T* device_at(int64_t offset) {
    return reinterpret_cast<T*>(device_.mutable_data_ptr<uint8_t>() + offset);
  }

  TorchPlace place_;
  CudaKernels& kernels_;
  int64_t rows_room_ = 0, tokens_room_ = 0;
  at::Tensor host_, device_;                            // bytes: the arrays below; the host's are pinned
  int64_t rows_at_ = 0, rules_at_ = 0, tokens_at_ = 0;  // asked
  int64_t weights_at_ = 0, states_at_ = 0, bytes_ = 0;  // told
  int32_t vocabulary_ = 0;
};

}  // namespace slipstream
