// GGUF's blocks of 32 quantised numbers of one row. Layouts and arithmetic equal ggml's to the bit
// (ggml-quants.c: dequantize_row_*): everything is f32 and rounded after each operation.
//
//   format   block                                          number
//   q8_0     f16 scale, 32 signed bytes q                   scale * q
//   q4_0     f16 scale, 16 bytes of two 4-bit q             scale * (q - 8)
//   q4_1     f16 scale, f16 minimum, 16 bytes of two q      scale * q + minimum
//
// Of the 16 bytes, the lower four bits are numbers 0..15 of the block, the upper ones 16..31.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/exact/half.h"

namespace slipstream {

// The formats that matrices are computed in. All but bf16 are of blocks.
enum class WeightFormat : uint8_t { bf16, q8_0, q4_0, q4_1 };

inline constexpr int32_t kBlockNumbers = 32;
inline constexpr int32_t kScaleBytes = 2;  // of a scale, or of a minimum

constexpr int64_t block_bytes(WeightFormat format) {
  return format == WeightFormat::q8_0 ? 34 : format == WeightFormat::q4_0 ? 18 : 20;
}

// The content of a block, apart from any layout. Inlined, so that a caller's `format` is a constant
// in the loops.
struct QuantizedBlock {
  uint16_t scale = 0, minimum = 0;  // f16; the minimum is of q4_1 only
  uint8_t q[kBlockNumbers] = {};    // q8_0: the signed number + 128

  [[gnu::always_inline]] static QuantizedBlock read(WeightFormat format, const std::byte* from) {
    QuantizedBlock block{.scale = load_half(from)};
    from += kScaleBytes;
    if (format == WeightFormat::q4_1) {
      block.minimum = load_half(from);
      from += kScaleBytes;
    }
    for (int32_t i = 0; i < kBlockNumbers; ++i) {
      const auto byte = std::to_integer<uint8_t>(from[format == WeightFormat::q8_0 ? i : i % 16]);
      block.q[i] = static_cast<uint8_t>(format == WeightFormat::q8_0 ? byte ^ 0x80 : i < 16 ? byte & 0xF : byte >> 4);
    }
    return block;
  }

  void write(WeightFormat format, std::byte* to) const {
    store_half(to, scale);
    to += kScaleBytes;
    if (format == WeightFormat::q4_1) {
      store_half(to, minimum);
      to += kScaleBytes;
    }
    for (int32_t i = 0; i < (format == WeightFormat::q8_0 ? kBlockNumbers : 16); ++i) {
      to[i] = std::byte(format == WeightFormat::q8_0 ? q[i] ^ 0x80 : q[i] | q[i + 16] << 4);
    }
  }

  // Writes the block's numbers to out: [kBlockNumbers].
  [[gnu::always_inline]] void numbers(WeightFormat format, float* out) const {
    const float d = f16_to_f32(scale), m = f16_to_f32(minimum);
    const int zero = format == WeightFormat::q8_0 ? 128 : 8;
    for (int32_t i = 0; i < kBlockNumbers; ++i) {
      out[i] = format == WeightFormat::q4_1 ? d * static_cast<float>(q[i]) + m : d * static_cast<float>(q[i] - zero);
    }
  }
};

}  // namespace slipstream
