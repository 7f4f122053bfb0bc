// Where networks run. A device packs weights, owns caches and buffers, and runs a network over one
// Step (ops.h).
//
// Several networks may share a device, so that a head lives beside its target: they share its
// threads and the scratch of its ops, and each has weights, caches and tensors of its own. What a
// network computes does not depend on the others, to the bit.
//
// The device owns all that pack() to output() return, until it ends itself. These calls are made at
// load: they may allocate and may fail. run() allocates nothing.
//
// Threads: one thread at a time calls a device. So two steps of one device never run at once,
// whatever their networks; run() checks that.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/checkpoint/host_matrix.h"
#include "common/model/ops.h"

namespace slipstream {

enum class Format : uint8_t { f32, matrix };  // how a weight is kept: gains f32, matrices as the device was told

// RoPE as the model's config describes it; `llama3` scaling as in Llama 3.1's reference (low and
// high frequency factors).
struct RopeRules {
  float theta = 10000.0F;
  int32_t head_size = 64;
  bool llama3 = false;
  float factor = 1.0F, low_freq_factor = 1.0F, high_freq_factor = 4.0F;
  int32_t original_context = 8192;
  std::span<const float> divisors;  // of the frequencies, [head_size / 2] (a GGUF file's rope_freqs); empty: none
};

struct AttentionShape {
  int32_t heads = 0, kv_heads = 0, head_size = 0;
};

class Device {  // the cpu one is built in (cpu/cpu_device.h); torch comes from a shared object later
 public:
  virtual ~Device() = default;
  // Stacks matrices of equal `cols` by rows into one weight [sum of rows, cols].
  virtual Result<Weight*> pack(std::span<const HostMatrix> stacked, Format format) = 0;
  virtual Result<RopeTable*> rope(const RopeRules& rules, int32_t positions) = 0;
  // positions: the most that one sequence has.
  virtual Result<KvCache*> cache(int layers, AttentionShape shape, int32_t blocks, int32_t positions) = 0;
  virtual Result<Tensor> scratch(int32_t rows_max, int32_t cols, Type type) = 0;
  virtual Result<Tensor> output(int32_t rows_max, int32_t cols, Type type) = 0;  // host-readable after run
  // Copies the step, does its moves in the network's own caches, runs forward(), and waits once.
  virtual Result<void> run(const Network& network, const Step& step) = 0;
  virtual bool row_invariant() const = 0;  // same bits alone or among sixteen
  // Equal ids promise equal bits: device, instruction path, formats of these weights (a network's),
  // kernel version.
  virtual std::string numerics_id(std::span<const Weight* const> weights) const = 0;
};

}  // namespace slipstream
