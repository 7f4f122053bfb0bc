// Numbers of 16 bits. bf16 is the upper half of an f32; f16 is IEEE's half precision. Each of their
// values is an f32 as well. What is constexpr, kernels of a GPU call as well.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace slipstream {

// At any address.
inline uint16_t load_half(const std::byte* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return bits;
}
inline void store_half(std::byte* at, uint16_t bits) { std::memcpy(at, &bits, sizeof(bits)); }

constexpr float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// Rounds to the nearest, ties to even; NaN stays NaN.
constexpr uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>((bits >> 16) | 0x40);  // NaN keeps a bit of the mantissa set
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// Cases: infinity or NaN, subnormal or zero, normal (112 is the difference of the exponents'
// biases).
constexpr float f16_to_f32(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16, exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  const float magnitude =
      exponent == 0 ? static_cast<float>(fraction) * 0x1p-24F : std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  return sign != 0 ? -magnitude : magnitude;
}

// Rounds to the nearest, ties to even; NaN stays NaN.
inline uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7E00);
  if (magnitude >= 65520.0F) return static_cast<uint16_t>(sign | 0x7C00);
  // Subnormals, below 2^-14, are multiples of 2^-24. Above, the lowest 13 bits of the fraction are
  // rounded away; a carry moves into the exponent, as it should.
  if (magnitude < 0x1p-14F) return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(magnitude * 0x1p24F)));
  const uint32_t rounded = (bits & 0x7FFFFFFF) + 0xFFF + (bits >> 13 & 1);
  return static_cast<uint16_t>(sign | (rounded - (112u << 23)) >> 13);
}

}  // namespace slipstream
