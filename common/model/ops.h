// The seam between networks and devices:
//
//   Network   describes its forward pass once, as calls on Ops (llama.h)
//   Device    packs weights, owns caches and buffers, implements Ops, runs a Network over a Step (device.h)
//   Step      the rows of one forward pass: ragged, of many sequences
//
// The cpu device allocates nothing per step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/base/ids.h"
#include "common/kv/kv_move.h"
#include "common/sampling/logits_processor.h"
#include "common/sampling/params.h"
#include "common/sampling/rank.h"
#include "common/sampling/row_mask.h"

namespace slipstream {

enum class Type : uint8_t { f32, bf16, f16, i32 };

inline constexpr int32_t kWholePath = 0;                     // a window of attention: none
inline constexpr int32_t kRankedWords = sizeof(Ranked) / 4;  // 32-bit columns that a Ranked takes in a tensor

// A view of [rows, cols]; its address never changes after load.
struct Tensor {
  void* data = nullptr;
  int32_t rows = 0, cols = 0;
  Type type = Type::f32;
};

struct Weight {  // opaque: each device has its own layout
  int32_t out = 0, in = 0;
  virtual ~Weight() = default;
};
struct KvCache {
  int32_t blocks = 0, block_tokens = 0;
  size_t bytes = 0;
  virtual ~KvCache() = default;
};

// A vector of numbers for each row of a paged cache: what a draft head reads of its target. Blocks
// and slots are those of the target's cache, so that tokens, keys, values and features move and are
// kept together.
struct FeaturePlane {
  int32_t cols = 0;
  size_t bytes = 0;
  virtual ~FeaturePlane() = default;
};
// Which column of a wider tensor each column of a narrow one stands for.
struct ColumnMap {
  int32_t narrow = 0, wide = 0;
  virtual ~ColumnMap() = default;
};

// cos and sin of each position, [positions, head_size / 2], made at load from the model's RoPE
// rules.
struct RopeTable {
  virtual ~RopeTable() = default;
};

// A smaller copy of an output layer, by which most of its rows need not be read where only the
// likeliest token is asked for (cpu/cpu_screen.h).
struct OutputScreen {
  virtual ~OutputScreen() = default;
};

// A token that a draft pass scores for a row beside those of its head's draft vocabulary
// (drafting/extra_tokens.h).
struct ExtraToken {
  TokenId token = -1;  // -1: none, nor any behind it
  float bonus = 0;     // nats, added to its logit
};
inline constexpr int32_t kExtraTokens = 128;  // of a row

// A wanted row whose logits pass through its sequence's logits processor, then through a mask,
// before they are sampled.
struct ProcessedRow {
  int32_t wanted = 0;                     // index among the wanted rows
  int32_t logits_processor = -1;          // index in Step::logits_processors; -1: none
  int32_t path_begin = 0, path_size = 0;  // part of Step::path: the drafted tokens that the row sees, its own last
  int32_t mask = -1;                      // index in Step::masks: what its request's grammar allows; -1: none
};

// Everything that differs between two steps. It lies in host memory; the device copies it to fixed
// addresses before the first op. A row computes one token of one sequence; a wanted row is one
// whose logits somebody needs.
struct Step {
  std::span<const int32_t> token, position, slot;  // [rows] slot: the cache row that receives this row's K/V
  std::span<const int32_t> parent_slot;            // [rows] of the token before it, on its own path; -1: it is the first
  std::span<const int32_t> sequence, visible;      // [rows] the row sees positions [0, visible) of its sequence ...
  std::span<const uint64_t> ancestors;             // [rows] ... and visible + j if bit j is set; 0: not a tree's row
  std::span<const int32_t> block_table;            // [sequences, blocks_max] logical block -> physical block
  int32_t blocks_max = 0;
  std::span<const RowSampling> sampling;    // [wanted]
  std::span<const int32_t> wanted;          // [wanted] indices of rows, ascending
  std::span<const KvMove> moves;            // done first, in order, in the network's caches: commits of earlier steps
  std::span<const ProcessedRow> processed;  // ascending by wanted row, each once; most steps have none
  std::span<const std::shared_ptr<const LogitsProcessor>> logits_processors;
  std::span<const TokenId> path;
  std::span<const std::shared_ptr<const RowMask>> masks;
  // Of a draft pass: [rows, kExtraTokens], distinct in a row, none of the draft vocabulary. Empty:
  // no row has any.
  std::span<const ExtraToken> extra;
  bool logits_read = true;  // somebody reads the step's logits, beside its tokens
};

struct Shape {  // of a step: all that control flow in forward() may depend on
  int32_t rows = 0, wanted = 0;
};

// What a layer's attention computes, beside which heads it has.
struct AttentionRules {
  int32_t window = kWholePath;  // of its path a row sees the last so many positions, its own included
  float scale = 0;              // of scores; 0: 1 / sqrt(head_size)
  float soft_cap = 0;           // scores become soft_cap * tanh(score / soft_cap); 0: they stay
  bool operator==(const AttentionRules&) const = default;
};

// The operations that networks are made of. A forward pass allocates nothing, sees no value of a
// tensor and does not branch on data, so that a device can capture it as a graph. Shapes stand in
// brackets; rows is Shape::rows.
class Ops {
 public:
  // out [rows, hidden] = scale * table [Step.token]
  virtual void embed(const Weight& table, float scale, Tensor out) = 0;
  // residual += delta (when given); out = residual / rms(residual) * gain, all [rows, hidden]; out
  // may be residual if there is no delta
  virtual void add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) = 0;
  // out [rows, weight.out] = in [rows, weight.in] * weight^T + bias [weight.out] (when given)
  virtual void linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) = 0;
  // The same. A device that rounds the rows which small weights meet rounds these more finely.
  virtual void linear_fine(Tensor in, const Weight& weight, const Weight* bias, Tensor out) { linear(in, weight, bias, out); }
  // head = head / rms(head) * gain [head_size], in place, for `heads` heads of each row, which
  // begin at column first_head * head_size
  virtual void norm_heads(Tensor rows, int32_t first_head, int32_t heads, const Weight& gain, float eps) = 0;
  // rotates q and k of qkv [rows, (heads + 2 kv_heads) * head_size] in place by Step.position;
  // writes k and v to Step.slot of this layer's cache. heads: as the columns have it; 0: no queries
  virtual void rope_store(Tensor qkv, const RopeTable& rope, KvCache& cache, int layer) = 0;
  // out [rows, heads * head_size] = softmax(scores) v over the positions that each row sees, where
  // scores = q k * scale, then capped
  virtual void attend(Tensor qkv, const KvCache& cache, int layer, const AttentionRules& rules, Tensor out) = 0;
  // out [rows, cols / 2] = silu(gate) * up, where gate_up [rows, cols] is gate, then up
  virtual void silu_gate(Tensor gate_up, Tensor out) = 0;
  // the same with GELU by tanh: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
  virtual void gelu_gate(Tensor gate_up, Tensor out) = 0;
  // rows [rows, cols] f32 become cap * tanh(rows / cap). REQUIRES: cap > 0
  virtual void soft_cap(Tensor rows, float cap) = 0;
  // residual += silu(in), both [rows, cols]
  virtual void add_silu(Tensor in, Tensor residual) = 0;
  // columns [first_column, first_column + in.cols) of out = in; both have the same rows
  virtual void put_columns(Tensor in, Tensor out, int32_t first_column) = 0;
  // plane [Step.slot] = in [rows, plane.cols]
  virtual void store_features(Tensor in, FeaturePlane& plane) = 0;
  // out [rows, plane.cols] = plane [Step.parent_slot]; zeros where there is none
  virtual void load_features(const FeaturePlane& plane, Tensor out) = 0;
  // out [rows, kExtraTokens] f32 = in [rows, weight.in] times weight's row of each extra token, and
  // its bonus; -infinity behind the last. All rows are wanted.
  virtual void linear_extra(Tensor in, const Weight& weight, Tensor out) = 0;
  // out [rows, map.wide] = in [rows, map.narrow] where the map has a column, extra [rows,
  // kExtraTokens] (when given) at the row's extra tokens, -infinity elsewhere
  virtual void spread_columns(Tensor in, const ColumnMap& map, const Tensor* extra, Tensor out) = 0;
  // out [wanted, cols] = in [Step.wanted]
  virtual void gather(Tensor in, Tensor out) = 0;
  // ids [wanted, 1] i32: the sampled token of each row of logits [wanted, vocabulary], after its
  // logits processor (processed_row.h), by Step.sampling (sampling/sample_token.h); -1: the row is
  // refused
  virtual void sample_tokens(Tensor logits, Tensor ids) = 0;
  // ids as sample_tokens() gives them of logits = linear_fine(in, head). Unless the step's logits
  // are read, those of tokens that are surely not sampled need not be computed, and are any lower
  // ones.
  virtual void sample_screened(Tensor in, const Weight& head, const OutputScreen& /*screen*/, Tensor logits, Tensor ids) {
    linear_fine(in, head, nullptr, logits);
    sample_tokens(logits, ids);
  }
  // out [wanted, k * kRankedWords]: instead the k candidates of each row (sampling/rank.h), token
  // -1 behind the last one
  virtual void rank(Tensor logits, Tensor out) = 0;
  // The same of logits = in [wanted, map.narrow] and extra as spread_columns() spreads them. Unless
  // the step has a logits processor, logits [wanted, map.wide] need not be computed.
  virtual void rank_columns(Tensor in, const ColumnMap& map, const Tensor* extra, Tensor logits, Tensor out) {
    spread_columns(in, map, extra, logits);
    rank(logits, out);
  }

 protected:
  ~Ops() = default;
};

struct Network {
  virtual ~Network() = default;
  virtual void forward(Ops& ops, Shape shape) const = 0;
  // The caches and planes whose rows its steps move. Networks that share block tables, as a target
  // and its draft head do, name the same ones.
  virtual std::span<KvCache* const> caches() const = 0;
  virtual std::span<FeaturePlane* const> planes() const { return {}; }
};

}  // namespace slipstream
