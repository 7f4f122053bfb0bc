// Ops of cuda:N: our own kernels (kernels/cuda), products of matrices by cuBLAS, and what is left
// by torch. Private to common/model/torch.
//
// A step of up to kGraphRowsMax rows is replayed from a graph. Graphs are captured for rows and
// items of attention in powers of two; a step is filled up to them with padding. The first step of
// a network on a thread runs without one: libraries set themselves up then, which no graph may
// hold.
//
// Deterministic, products have kProductRows rows each, of which the last are whatever the buffers
// hold: a row's product does not depend on the others. Kernels compute a row in one order anyway,
// products with matrices in few bits among them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "common/model/torch/cuda_edits.h"
#include "common/model/torch/cuda_kernels.h"
#include "common/model/torch/cuda_step.h"
#include "common/model/torch/cuda_weights.h"
#include "common/model/torch/torch_ops.h"

namespace slipstream {

class CudaOps final : public TorchOps {
 public:
  static constexpr int32_t kProductRows = 64;   // reads weights as often as one row does
  static constexpr int32_t kGraphRowsMax = 64;  // no more than kProductRows, which every buffer has room for
  static constexpr size_t kGraphsMax = 256;

  CudaOps(const TorchPlace& place, std::unique_ptr<CudaKernels> kernels);

  // Rows that a buffer of so many has in memory, and blocks that a cache has.
  static int64_t buffer_rows(int64_t rows) { return (rows + kProductRows - 1) / kProductRows * kProductRows; }
  static constexpr int32_t kPaddingBlocks = kGraphRowsMax / cuda::kBlockPositions;
  // Room on the GPU for tokens or candidates of so many rows. Called at load.
  void reserve_choices(int64_t rows, int64_t words_each);

  void run(const Network& network, const Step& step) override;
  // As RowWeigher's.
  RowWeights weigh(const Step& step, std::span<const RowTokens> rows) {
    return weights_.weigh(step, rows, chosen_.logits, edits_);
  }
  TokenId token_at(size_t i, uint64_t mark, std::span<const TokenId> without) { return weights_.token_at(i, mark, without); }

  void add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) override;
  void linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) override;
  void norm_heads(Tensor rows, int32_t first_head, int32_t heads, const Weight& gain, float eps) override;
  void rope_store(Tensor qkv, const RopeTable& rope, KvCache& cache, int layer) override;
  void attend(Tensor qkv, const KvCache& cache, int layer, const AttentionRules& rules, Tensor out) override;
  void silu_gate(Tensor gate_up, Tensor out) override;
  void gelu_gate(Tensor gate_up, Tensor out) override;
  void sample_tokens(Tensor logits, Tensor ids) override;
  void rank(Tensor logits, Tensor out) override;

 private:
  struct Chosen {  // by the last sample_tokens() or rank()
    Tensor logits, out;
    bool ranked = false;
    Tensor ids;  // gets the first of two candidates of each row, where near-ties are counted
  };
  struct Captured {
    std::unique_ptr<CudaKernels::Graph> graph;
    Chosen chosen;
  };
  // A network with its first cache, since a later network may have the address of one that is gone.
  using Identity = std::pair<const Network*, const KvCache*>;
  struct Key {  // of a graph
    Identity network;
    int32_t rows = 0, wanted = 0, items = 0;
    auto operator<=>(const Key&) const = default;
  };

  static Identity identity(const Network& network);
  CudaStep::Plan plan(const Network& network, const Step& step) const;
  void move_rows(const Network& network, const Step& step);
  void run_graph(const Network& network, Shape shape);
  at::Tensor rows_of(const Weight& matrix, const at::Tensor& ids) const override;
  void linear_small(Tensor in, const TorchWeight& weight, const Weight* bias, Tensor out);
  void choose(Tensor logits, Tensor out, bool ranked);
  void read_pairs(const Step& step);

  std::unique_ptr<CudaKernels> kernels_;
  CudaStep numbers_;
  CudaEdits edits_;
  CudaWeights weights_;
  at::Tensor choices_;   // [rows * words] i32
  at::Tensor pairs_;     // [rows, 2 * kRankedWords] i32 on the host: two candidates of each row
  at::Tensor sampling_;  // bytes: a SampleScratch of each row
  Chosen chosen_;
  std::set<Identity> warm_;  // those that have run once on this thread
  std::thread::id thread_;   // libraries set themselves up for each
  std::map<Key, Captured> graphs_;
};

}  // namespace slipstream
