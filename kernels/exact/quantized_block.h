// Blocks of 32 quantised numbers of one row. All but q6_k are GGUF's: their layouts and arithmetic
// equal ggml's to the bit (ggml-quants.c: dequantize_row_*): everything is f32 and rounded after
// each operation. GGUF's own Q6_K keeps the scales of 256 numbers in two steps
// (common/checkpoint/block_runs.h); here each 16 numbers have their scale beside them.
//
//   format   block                                                      number
//   q8_0     f16 scale, 32 signed bytes q                               scale * q
//   q4_0     f16 scale, 16 bytes of two 4-bit q                         scale * (q - 8)
//   q4_1     f16 scale, f16 minimum, 16 bytes of two q                  scale * q + minimum
//   q5_1     f16 scale, f16 minimum, 32 fifth bits, 16 bytes of two     scale * q + minimum
//            times the lower four
//   q6_k     two f16 scales, of numbers 0..15 and 16..31, 8 bytes of    scale * (q - 32)
//            four times the upper two bits, 16 of two times the lower
//            four
//
// Of the 16 bytes, the lower four bits are numbers 0..15 of the block, the upper ones 16..31. Of
// q6_k's 8, byte 4 h + c has the upper bits of numbers 16 h + c, + 4, + 8 and + 12, the first in
// its lowest bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/exact/half.h"

namespace slipstream {

// The formats that matrices are computed in. All but bf16 are of blocks.
enum class WeightFormat : uint8_t { bf16, q8_0, q4_0, q4_1, q5_1, q6_k };

inline constexpr int32_t kBlockNumbers = 32;
inline constexpr int32_t kScaleBytes = 2;  // of a scale, or of a minimum

constexpr bool has_minimum(WeightFormat format) { return format == WeightFormat::q4_1 || format == WeightFormat::q5_1; }
// Numbers that share a scale.
constexpr int32_t run_numbers(WeightFormat format) { return format == WeightFormat::q6_k ? 16 : kBlockNumbers; }
// Of the scales and minima.
constexpr int32_t header_bytes(WeightFormat format) {
  return (has_minimum(format) || run_numbers(format) < kBlockNumbers ? 2 : 1) * kScaleBytes;
}
// Bits of q above its lower four, which stand apart; q8_0 has its q in one piece.
constexpr int32_t high_bits(WeightFormat format) {
  return format == WeightFormat::q5_1 ? 1 : format == WeightFormat::q6_k ? 2 : 0;
}
constexpr int32_t high_bytes(WeightFormat format) { return high_bits(format) * kBlockNumbers / 8; }
constexpr int64_t block_bytes(WeightFormat format) {
  return header_bytes(format) + high_bytes(format) + (format == WeightFormat::q8_0 ? kBlockNumbers : kBlockNumbers / 2);
}
// The q that stands for 0.
constexpr int32_t zero_of(WeightFormat format) {
  return format == WeightFormat::q8_0 ? 128 : format == WeightFormat::q4_0 ? 8 : format == WeightFormat::q6_k ? 32 : 0;
}
constexpr int32_t most_q(WeightFormat format) { return format == WeightFormat::q8_0 ? 255 : (16 << high_bits(format)) - 1; }

// Where the high bits of number i stand among high_bytes().
struct HighBits {
  int32_t byte;
  int32_t shift;
};
constexpr HighBits high_bits_of(WeightFormat format, int32_t i) {
  if (format == WeightFormat::q5_1) return {i / 8, i % 8};
  return {i / 16 * 4 + i % 4, i % 16 / 4 * 2};
}

// The content of a block, apart from any layout. Inlined, so that a caller's `format` is a constant
// in the loops.
struct QuantizedBlock {
  uint16_t scale = 0;
  uint16_t second = 0;            // the minimum, or the scale of numbers 16..31, of formats that have one
  uint8_t q[kBlockNumbers] = {};  // q8_0: the signed number + 128

  [[gnu::always_inline]] static QuantizedBlock read(WeightFormat format, const std::byte* from) {
    QuantizedBlock block{.scale = load_half(from)};
    if (header_bytes(format) > kScaleBytes) block.second = load_half(from + kScaleBytes);
    const std::byte* high = from + header_bytes(format);
    from = high + high_bytes(format);
    for (int32_t i = 0; i < kBlockNumbers; ++i) {
      const auto byte = std::to_integer<uint32_t>(from[format == WeightFormat::q8_0 ? i : i % 16]);
      uint32_t q = format == WeightFormat::q8_0 ? byte ^ 0x80 : i < 16 ? byte & 0xF : byte >> 4;
      if (high_bits(format) > 0) {
        const auto [at, shift] = high_bits_of(format, i);
        q |= (std::to_integer<uint32_t>(high[at]) >> shift << 4) & static_cast<uint32_t>(most_q(format));
      }
      block.q[i] = static_cast<uint8_t>(q);
    }
    return block;
  }

  void write(WeightFormat format, std::byte* to) const {
    store_half(to, scale);
    if (header_bytes(format) > kScaleBytes) store_half(to + kScaleBytes, second);
    std::byte* high = to + header_bytes(format);
    to = high + high_bytes(format);
    if (format == WeightFormat::q8_0) {
      for (int32_t i = 0; i < kBlockNumbers; ++i) to[i] = std::byte(q[i] ^ 0x80);
      return;
    }
    for (int32_t i = 0; i < kBlockNumbers / 2; ++i) to[i] = std::byte((q[i] & 15) | (q[i + 16] & 15) << 4);
    for (int32_t i = 0; i < high_bytes(format); ++i) high[i] = std::byte{0};
    for (int32_t i = 0; i < kBlockNumbers && high_bits(format) > 0; ++i) {
      const auto [at, shift] = high_bits_of(format, i);
      high[at] |= std::byte(q[i] >> 4 << shift);
    }
  }

  // Writes the block's numbers to out: [kBlockNumbers].
  [[gnu::always_inline]] void numbers(WeightFormat format, float* out) const {
    const float first = f16_to_f32(scale), other = f16_to_f32(second);
    for (int32_t i = 0; i < kBlockNumbers; ++i) {
      const auto steps = static_cast<float>(q[i] - zero_of(format));
      out[i] = has_minimum(format) ? first * steps + other : (i < run_numbers(format) ? first : other) * steps;
    }
  }
};

}  // namespace slipstream
