// Ops by operations of torch, on a CPU or on a GPU. Private to common/model/torch.
//
// Products of matrices round by the number of their rows, because libraries choose another kernel
// for each. Deterministic, rows are multiplied in groups of a fixed number, of which the last is
// filled up with zeros. What goes over the numbers of a row (norms, gates) goes row by row: vectors
// on a CPU, and sums on a GPU, are laid out by the number of rows.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "common/model/ops.h"
#include "common/model/processed_row.h"
#include "common/model/torch/torch_attention.h"
#include "common/model/torch/torch_step.h"
#include "common/model/torch/torch_types.h"
#include "common/sampling/sample_token.h"

namespace slipstream {

class TorchOps : public Ops {
 public:
  explicit TorchOps(const TorchPlace& place) : place_(place), attention_(place) {}
  virtual ~TorchOps() = default;

  // Runs the network over the step, and waits for the end of it.
  virtual void run(const Network& network, const Step& step);
  std::span<const uint8_t> near_ties() const { return near_ties_; }  // as Device's
  void embed(const Weight& table, float scale, Tensor out) override;
  void add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) override;
  void linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) override;
  void norm_heads(Tensor rows, int32_t first_head, int32_t heads, const Weight& gain, float eps) override;
  void rope_store(Tensor qkv, const RopeTable& rope, KvCache& cache, int layer) override;
  void attend(Tensor qkv, const KvCache& cache, int layer, const AttentionRules& rules, Tensor out) override;
  void silu_gate(Tensor gate_up, Tensor out) override;
  void gelu_gate(Tensor gate_up, Tensor out) override;
  void soft_cap(Tensor rows, float cap) override;
  void add_silu(Tensor in, Tensor residual) override;
  void put_columns(Tensor in, Tensor out, int32_t first_column) override;
  void store_features(Tensor in, FeaturePlane& plane) override;
  void load_features(const FeaturePlane& plane, Tensor out) override;
  void linear_extra(Tensor in, const Weight& weight, Tensor out) override;
  void spread_columns(Tensor in, const ColumnMap& map, const Tensor* extra, Tensor out) override;
  void gather(Tensor in, Tensor out) override;
  void sample_tokens(Tensor logits, Tensor ids) override;
  void rank(Tensor logits, Tensor out) override;

 protected:
  struct Scratch {  // of one thread
    ProcessedScratch processed;
    SamplingScratch choose;
  };
  // Rows of logits are processed and sampled on the host: the noise and the chain have the same
  // bits everywhere. Both write a wanted row of ids or of candidates; logits: [vocabulary], its
  // own.
  void choose_token(int32_t row, std::span<const float> logits, Tensor ids);
  void choose_ranked(int32_t row, std::span<const float> logits, Tensor out);

  static void move(const TorchCache& cache, std::span<const KvMove> moves);
  static void move(const TorchPlane& plane, std::span<const KvMove> moves);
  // Rows of a matrix, [ids, in], for any ids of i64.
  virtual at::Tensor rows_of(const Weight& matrix, const at::Tensor& ids) const;
  void begin(TorchStep numbers);  // of the step that runs next
  static Shape shape_of(const Step& step);
  Scratch& scratch();  // this thread's
  float near_tie_nats() const;

  TorchPlace place_;
  TorchStep step_;
  std::vector<Scratch> scratch_;  // [threads of torch's pool]
  std::vector<uint8_t> near_ties_;

 private:
  // Calls run(first, count) once for all rows, or for each row alone where it is deterministic.
  template <class Run>
  void by_rows(int64_t rows, const Run& run) const;
  // out = activation(gate) * up.
  template <class Activation>
  void gate(Tensor gate_up, Tensor out, const Activation& activation);
  at::Tensor multiplied(const at::Tensor& in, const at::Tensor& weight);  // in * weight^T
  template <class Choose>
  void choose(const Tensor& logits, const Choose& choose_row);

  TorchAttention attention_;
};

}  // namespace slipstream
