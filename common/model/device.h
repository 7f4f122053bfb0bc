// A device runs networks: it packs weights, owns caches and buffers, and runs a network over one
// Step (ops.h).
//
// Several networks may share a device, for example a draft head and its target. They share its
// threads and the scratch of its ops; each has its own weights, caches and tensors. The bits that a
// network computes do not depend on the others.
//
// Lifetime: the device owns everything that pack(), rope(), cache(), scratch() and output() return.
// These calls are made at load; they may allocate and may fail. The cpu device's run() allocates
// nothing.
//
// Threads: one thread at a time calls a device, so its steps never overlap. run() checks that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/base/limits.h"
#include "common/base/result.h"
#include "common/checkpoint/host_matrix.h"
#include "common/model/ops.h"
#include "common/model/row_weigher.h"

namespace slipstream {

// Of a packed weight.
enum class Format : uint8_t {
  f32,     // for gains and biases
  matrix,  // the device's choice
  guess    // as matrix, for networks that only guess: no word depends on it, so it may be smaller than it is stored
};

struct AttentionShape {
  int32_t heads = 0, kv_heads = 0, head_size = 0;
};

class Device {  // make_device.h makes one by its name
 public:
  virtual ~Device() = default;
  // Stacks matrices of equal `cols` by rows into one weight [sum of rows, cols]. REQUIRES: equal
  // cols.
  virtual Result<Weight*> pack(std::span<const HostMatrix> stacked, Format format) = 0;
  // frequencies: [head_size / 2]; factor: of sines and cosines (checkpoint/rope_frequencies.h).
  virtual Result<RopeTable*> rope(std::span<const float> frequencies, float factor, int32_t positions) = 0;
  // Which heads a network has, before anything else is asked of the device for it: it may leave
  // some to slower code, which has other limits. Error: it computes none of them.
  virtual Result<void> prepare(AttentionShape /*shape*/) { return {}; }
  // Bytes that cache() and feature_plane() would take.
  virtual size_t cache_bytes(int layers, AttentionShape shape, int32_t blocks) const = 0;
  virtual size_t plane_bytes(int32_t cols, int32_t blocks) const = 0;
  // A paged K/V cache for all sequences of a network. positions: the most that one sequence has.
  virtual Result<KvCache*> cache(int layers, AttentionShape shape, int32_t blocks, int32_t positions) = 0;
  // cols numbers for each of blocks * kBlockTokens rows, all 0.
  virtual Result<FeaturePlane*> feature_plane(int32_t cols, int32_t blocks) = 0;
  // Rows of a plane from and to host memory, [slots, cols], between two runs. REQUIRES: the plane
  // has these slots.
  virtual Result<void> read(const FeaturePlane& plane, std::span<const int32_t> slots, std::span<float> rows) = 0;
  virtual Result<void> write(FeaturePlane& plane, std::span<const int32_t> slots, std::span<const float> rows) = 0;
  // What lets sample_screened() read less of an output layer; null: nothing would.
  virtual Result<OutputScreen*> screen(const Weight& /*head*/) { return nullptr; }
  // columns: [narrow] distinct columns of the wide tensor. REQUIRES: they are in [0, wide).
  virtual Result<ColumnMap*> column_map(std::span<const int32_t> columns, int32_t wide) = 0;
  virtual Result<Tensor> scratch(int32_t rows_max, int32_t cols, Type type) = 0;
  virtual Result<Tensor> output(int32_t rows_max, int32_t cols, Type type) = 0;  // that host() reads
  virtual int32_t step_rows() const { return kCpuStepRows; }                     // that a step has at most, up to kStepRowsMax
  virtual int32_t sequences() const { return kCpuSequences; }  // that its steps serve well, up to kSequencesPerVerifierMax
  virtual Type activations() const = 0;  // the type in which networks keep what they compute between two ops
  // Copies the step to the device, does its moves in the network's caches, runs forward(), and
  // waits for the result. The step must be valid (step_check.h).
  virtual Result<void> run(const Network& network, const Step& step) = 0;
  // The rows of an output() in host memory, as the last run() left them; valid until the next one.
  // Of a device with memory of its own they are copied when they are asked for, so ask for no more
  // rows than are read.
  virtual const void* host(const Tensor& output) = 0;
  virtual RowWeigher* weigher() { return nullptr; }  // null: it weighs no rows, and their logits are read by host()
  virtual bool row_invariant() const = 0;            // a row gets the same bits whatever other rows are in the step
  // [wanted] of the last run(), if it sampled tokens: 1 where the row's token was a near-tie
  // (sampling/near_tie.h). None where rows are invariant.
  virtual std::span<const uint8_t> near_ties() const { return {}; }
  // Names everything that a network's bits depend on: device, instruction path, formats of its
  // weights, kernel version. Equal ids promise equal bits.
  virtual std::string numerics_id(std::span<const Weight* const> weights) const = 0;
};

}  // namespace slipstream
