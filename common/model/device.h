// Owns what it returns; pack..prepare run at load, may allocate and may fail. One thread calls a device.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/checkpoint/host_matrix.h"
#include "common/model/ops.h"

namespace slipstream {

enum class Format : uint8_t { f32, matrix };  // how a weight is kept: gains f32, matrices as the device was told

// RoPE as the model's config describes it; `llama3` scaling as in Llama 3.1's reference (low and high frequency factors).
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
  virtual Result<KvCache*> cache(int layers, AttentionShape shape, int32_t blocks) = 0;
  virtual Result<Tensor> scratch(int32_t rows_max, int32_t cols, Type type) = 0;
  virtual Result<Tensor> output(int32_t rows_max, int32_t cols, Type type) = 0;  // host-readable after run
  virtual Result<void> run(const Network& network, const Step& step) = 0;        // copy Step, moves, forward, wait once
  virtual bool row_invariant() const = 0;                                        // same bits alone or among sixteen
  virtual std::string numerics_id() const = 0;  // device, instruction path, format, kernel version
};

}  // namespace slipstream
