// Ops on a CPU. Each op splits its rows, panels or heads over the thread pool and runs the kernel
// of its instruction path on every part.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/cpu/cpu_attention.h"
#include "common/model/cpu/cpu_extra.h"
#include "common/model/cpu/cpu_screen.h"
#include "common/model/cpu/cpu_two_terms.h"
#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/thread_pool.h"
#include "common/model/ops.h"
#include "common/model/processed_row.h"
#include "common/sampling/sample_token.h"

namespace slipstream {

class CpuOps final : public Ops {
 public:
  CpuOps(const Kernels& kernels, int threads);

  // Called at load: make room for what ops will need, so that no step allocates.
  void reserve_rows(int32_t rows_max);
  void reserve_columns(int32_t in_cols);  // of a weight
  void reserve_screen(int32_t out) { screened_.reserve(out); }
  ThreadPool& pool() { return pool_; }  // the device packs weights with it
  void reserve_context(int32_t positions, const AttentionShape& shape);

  void begin(const Step& step);
  void move(const CpuCache& cache, std::span<const KvMove> moves);
  static void move(const CpuPlane& plane, std::span<const KvMove> moves);

  void embed(const Weight& table, float scale, Tensor out) override;
  void add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) override;
  void linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) override;
  void linear_fine(Tensor in, const Weight& weight, const Weight* bias, Tensor out) override;
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
  void sample_screened(Tensor in, const Weight& head, const OutputScreen& screen, Tensor logits, Tensor ids) override;
  void rank(Tensor logits, Tensor out) override;
  void rank_columns(Tensor in, const ColumnMap& map, const Tensor* extra, Tensor logits, Tensor out) override;

 private:
  struct Scratch {  // of one thread
    ProcessedScratch processed;
    std::vector<uint16_t> rounded;  // a row's keys and values, for a bf16 cache
    SamplingScratch choose;
    JoinedRow joined;
    std::vector<float> sums;  // of rows' second terms
  };
  void multiply(Tensor in, const Weight& weight, const Weight* bias, Tensor out, bool fine);
  bool screens(int32_t rows) const;  // this step, of so many wanted rows
  template <class By>
  void rank_rows(Tensor out, const By& by);
  std::span<const float> to_choose_from(Tensor logits, int32_t row, int thread);

  const Kernels& kernels_;
  ThreadPool pool_;
  CpuAttention attention_;
  CpuActivations activations_;
  CpuTwoTerms two_terms_;
  ScreenedOutput screened_;
  ExtraLogits extra_;
  const Step* step_ = nullptr;
  int32_t rows_max_ = 0, cols_max_ = 0;
  std::vector<Scratch> scratch_;  // [threads]
};

}  // namespace slipstream
