// The rows of a step with penalties, biases or masks: their tokens are chosen on the GPU as well,
// from edited copies of their logits. The edits are made on the host while the GPU still computes
// the step, and no row of logits is copied to the host. Private to common/model/torch.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/model/torch/cuda_kernels.h"
#include "common/model/torch/torch_types.h"
#include "common/sampling/row_edits.h"

namespace slipstream {

class CudaEdits {
 public:
  CudaEdits(const TorchPlace& place, CudaKernels& kernels) : place_(place), kernels_(kernels) {}

  // Puts the choices of the step's processed rows on the stream, behind what chose all rows from
  // logits [wanted, vocabulary]. out [wanted, words]: tokens or candidates. Waits for masks that
  // other threads make.
  void choose(const Step& step, Tensor logits, Tensor out, bool ranked);
  // Writes the choices to their rows of that `out`. REQUIRES: the stream has been waited for.
  void finish(const Step& step, Tensor out) const;
  // The edited logits of a wanted row of that step, on the GPU; null: it has no edits.
  const float* edited(const Step& step, int32_t wanted) const;

 private:
  struct Room {  // things that there is room for
    int64_t rows = 0, edits = 0, masks = 0, vocabulary = 0, words = 0;
  };
  void read(const Step& step, int32_t vocabulary);
  void make_room(const Room& need);
  void stage(const Step& step);

  TorchPlace place_;
  CudaKernels& kernels_;
  RowEdits row_;
  std::vector<cuda::EditedRow> rows_;  // of the step
  std::vector<LogitEdit> edits_;
  std::vector<uint32_t> masks_;
  Room room_;
  at::Tensor host_, device_;  // bytes: the four arrays below; the host's are pinned
  int64_t rows_at_ = 0, rules_at_ = 0, edits_at_ = 0, masks_at_ = 0;
  at::Tensor logits_;                    // [rows, vocabulary] f32, edited
  at::Tensor scratch_;                   // bytes: a SampleScratch of each row
  at::Tensor choices_, chosen_on_host_;  // [rows, words] i32
};

}  // namespace slipstream
