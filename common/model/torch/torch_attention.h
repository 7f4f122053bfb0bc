// Attention over a paged cache by operations of torch. Private to common/model/torch.
//
// Rows of one sequence attend together, over whole blocks of the cache behind a mask.
// Deterministic, each row attends alone, over the positions that it sees in their order: a token
// gets the same bits as a tree's row, as a prompt's, and once it is committed, because the
// operations have the same shapes and numbers each time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/model/torch/torch_types.h"

namespace slipstream {

class TorchAttention {
 public:
  explicit TorchAttention(const TorchPlace& place) : place_(place) {}

  void begin(const Step& step);  // the step must outlive its runs
  // Before run(): the rules of that layer (Ops::attend). Lists what each row of the step sees, if
  // the window is another than the layer's before.
  void list(const AttentionRules& rules);
  // As Ops::attend(). qkv: [rows, (heads + 2 kv_heads) * head_size], out: [rows, heads *
  // head_size].
  void run(const at::Tensor& qkv, const TorchCache& cache, int layer, const at::Tensor& out) const;

 private:
  struct Sequence {     // rows of one sequence
    at::Tensor rows;    // [n] i64
    at::Tensor blocks;  // [m] i64
    at::Tensor seen;    // [n, m * kBlockTokens] bool
  };
  struct Row {                   // one row
    at::Tensor blocks, offsets;  // [positions seen] i64
  };
  void list_sequences(const Step& step, int32_t window);
  void list_rows(const Step& step, int32_t window);
  void attend_together(const Sequence& sequence, const at::Tensor& queries, const at::Tensor& cache,
                       const at::Tensor& out) const;
  void attend_alone(const Row& row, const at::Tensor& query, const at::Tensor& cache, const at::Tensor& out) const;
  double scale(int64_t head_size) const;
  at::Tensor capped(const at::Tensor& scores) const;

  TorchPlace place_;
  const Step* step_ = nullptr;
  AttentionRules rules_;
  std::optional<int32_t> listed_;  // the window that sequences_ or rows_ were listed for
  std::vector<Sequence> sequences_;
  std::vector<Row> rows_;
};

}  // namespace slipstream
