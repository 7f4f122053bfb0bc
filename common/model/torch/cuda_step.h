// A step's numbers on a GPU, at addresses that stay: graphs that were captured read the numbers of
// later steps there. Private to common/model/torch.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "common/model/ops.h"
#include "common/model/torch/cuda_kernels.h"
#include "common/model/torch/torch_step.h"

namespace slipstream {

cuda::RowRule rule_of(const RowSampling& row);

class CudaStep {
 public:
  // How a step is laid out.
  struct Plan {
    Shape shape;               // the step's, or more rows, which are padding
    int32_t group = 1;         // query heads of a key-value head (attend_plan.h)
    int32_t part_floats = 0;   // of a row's partial results of attention (AttendArgs::parts)
    int32_t padding_slot = 0;  // the first of as many slots as there are rows of padding
    bool graph = false;        // for a graph: as many items of attention as the next power of two, so that it serves more steps
  };

  CudaStep(const TorchPlace& place, CudaKernels& kernels) : place_(place), kernels_(kernels) {}

  // Lays the step out and copies it, behind what was launched before. False: some address is
  // another one than before. The host's side of the last step must have been copied.
  bool begin(const Step& step, const Plan& plan);

  // For operations of torch; [rows] or [wanted] of the plan's shape.
  const TorchStep& torch() const { return torch_; }
  // For kernels.
  const int32_t* position() const { return at<int32_t>(position_); }
  const int32_t* slot() const { return at<int32_t>(slot_); }
  const int32_t* moves() const { return at<int32_t>(moves_); }
  const cuda::RowRule* rules() const { return at<cuda::RowRule>(rules_); }
  void describe(cuda::AttendArgs& args) const;    // fills what is the step's
  int32_t items() const { return items_count_; }  // of attention

 private:
  struct Room {  // numbers of things that there is room for
    int64_t rows = 0, wanted = 0, moves = 0, items = 0, parts = 0, sequences = 0, blocks = 0, extra = 0;
    bool holds(const Room& need) const;
    Room grown_to(const Room& need) const;
  };
  using Offset = int64_t;  // of an array, in bytes

  void lay_out(const Room& room);
  void fill_rows(const Step& step, const Plan& plan);
  void fill_wanted(const Step& step, const Plan& plan);
  void fill_tables(const Step& step);
  void copy_extra(const Step& step, const Plan& plan);
  template <class T>
  T* host_at(Offset offset) {
    return reinterpret_cast<T*>(host_.mutable_data_ptr<uint8_t>() + offset);
  }
  template <class T>
  const T* at(Offset offset) const {
    return reinterpret_cast<const T*>(device_.const_data_ptr<uint8_t>() + offset);
  }
  at::Tensor longs(Offset offset, int64_t count) const;

  TorchPlace place_;
  CudaKernels& kernels_;
  Room room_;
  at::Tensor host_, device_;  // bytes; the host's are pinned
  at::Tensor parts_;          // [room_.parts] f32
  Offset token_ = 0, long_slot_ = 0, parent_slot_ = 0, long_wanted_ = 0, ancestors_ = 0, rules_ = 0;  // of 8 bytes
  Offset position_ = 0, slot_ = 0, sequence_ = 0, visible_ = 0, first_part_ = 0, items_ = 0, moves_ = 0, table_ = 0;
  Offset extra_token_ = 0, extra_bonus_ = 0;
  cuda::AttendPlan plan_;
  int32_t items_count_ = 0;
  TorchStep torch_;
};

}  // namespace slipstream
