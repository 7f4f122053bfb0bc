// How a network, a device and one step of work meet. Each network is described once for serving, as
// calls on Ops; a Device packs weights, owns caches and buffers, and runs a network over one ragged
// Step. Nothing is allocated per step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/base/ids.h"
#include "common/kv/kv_move.h"
#include "common/sampling/logits_processor.h"
#include "common/sampling/params.h"
#include "common/sampling/rank.h"

namespace slipstream {

enum class Type : uint8_t { f32, bf16, i32 };

inline constexpr int32_t kRankedWords = sizeof(Ranked) / 4;  // a Ranked as 32-bit columns of a tensor

// A view of [rows, cols]; its address never changes after load.
struct Tensor {
  void* data = nullptr;
  int32_t rows = 0, cols = 0;
  Type type = Type::f32;
};

struct Weight {  // opaque: panels, AMX tiles or an at::Tensor
  int32_t out = 0, in = 0;
  virtual ~Weight() = default;
};
struct KvCache {
  int32_t blocks = 0, block_tokens = 0;
  size_t bytes = 0;
  virtual ~KvCache() = default;
};

// cos and sin of each position, [positions, head_size / 2], made at load from the model's RoPE
// rules.
struct RopeTable {
  virtual ~RopeTable() = default;
};

// A wanted row whose logits its sequence adjusts before one is chosen.
struct ProcessedRow {
  int32_t wanted = 0;                     // index among the wanted rows
  int32_t logits_processor = 0;           // of Step::adjusters
  int32_t path_begin = 0, path_size = 0;  // of Step::path: the drafted tokens that the row sees, its own last
};

// All that differs between two steps. Host memory, copied to fixed device addresses before the
// first op.
struct Step {
  std::span<const int32_t> token, position, slot;  // [rows] slot: the cache row where this row's K/V goes
  std::span<const int32_t> sequence, visible;      // [rows] sees positions [0, visible) of its sequence ...
  std::span<const uint64_t> ancestors;             // [rows] ... and position visible + j where bit j is set; 0 in a prompt
  std::span<const int32_t> block_table;            // [sequences, blocks_max] physical block of each logical one
  int32_t blocks_max = 0;
  std::span<const RowSampling> sampling;    // [wanted]
  std::span<const int32_t> wanted;          // rows whose logits anyone needs, ascending
  std::span<const KvMove> moves;            // done first, in the network's own caches: the commit of the step before
  std::span<const ProcessedRow> processed;  // ascending by wanted row, each once; most steps have none
  std::span<const std::shared_ptr<const LogitsProcessor>> logits_processors;
  std::span<const TokenId> path;
};

struct Shape {  // what a graph is captured for
  int32_t rows = 0, wanted = 0;
};

// All a network sees: no allocation, no host values, no branch on data. Shapes in brackets; rows is
// Shape::rows.
class Ops {
 public:
  // Step.token -> out [rows, hidden]
  virtual void embed(const Weight& table, Tensor out) = 0;
  // residual += delta (when given); out = residual / rms(residual) * gain, all [rows, hidden]
  virtual void add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) = 0;
  // out [rows, weight.out] = in [rows, weight.in] * weight^T + bias [weight.out] (when given); qkv
  // and gate|up are stacked at pack
  virtual void linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) = 0;
  // each of `heads` heads of the rows, from column first_head * gain.in on: head = head / rms(head)
  // * gain [head_size], in place
  virtual void norm_heads(Tensor rows, int32_t first_head, int32_t heads, const Weight& gain, float eps) = 0;
  // rotates q and k of qkv [rows, (heads + 2 kv_heads) * head_size] in place; writes k and v to
  // Step.slot of this layer
  virtual void rope_store(Tensor qkv, const RopeTable& rope, KvCache& cache, int layer) = 0;
  // out [rows, heads * head_size]: softmax(q k / sqrt(head_size)) v over what each row sees
  virtual void attend(Tensor qkv, const KvCache& cache, int layer, Tensor out) = 0;
  // out [rows, cols / 2] = silu(gate) * up, of gate_up [rows, cols] with gate first
  virtual void silu_gate(Tensor gate_up, Tensor out) = 0;
  // out [wanted, cols] = in [Step.wanted]
  virtual void gather(Tensor in, Tensor out) = 0;
  // ids [wanted, 1] i32: the target's token a row, by Step.sampling and Step.adjusted
  // (sampling/sample_token.h, processed_row.h); -1: non-finite logits
  virtual void sample_tokens(Tensor logits, Tensor ids) = 0;
  // out [wanted, k * kRankedWords]: a row's k likeliest choices, likewise (sampling/rank.h); token
  // -1 behind the last
  virtual void rank(Tensor logits, Tensor out) = 0;

 protected:
  ~Ops() = default;
};

struct Network {  // Llama, later a draft head
  virtual ~Network() = default;
  virtual void forward(Ops& ops, Shape shape) const = 0;
  // Those whose rows its steps write, and move. No two networks of a device name the same one.
  virtual std::span<KvCache* const> caches() const = 0;
};

}  // namespace slipstream
