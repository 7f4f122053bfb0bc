#include "kernels/cpu/panels.h"

#include <bit>
#include <cmath>

namespace slipstream {
namespace {

int64_t place(int32_t in_cols, int32_t row, int32_t col) {
  return row / kPanelRows * panel_elements(in_cols) + int64_t{col / 2} * 2 * kPanelRows + row % kPanelRows * 2 + col % 2;
}

}  // namespace

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16, exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  return sign != 0 ? -magnitude : magnitude;
}

void pack_row(const uint16_t* source, int32_t in_cols, int32_t row, uint16_t* panels) {
  uint16_t* at = panels + place(in_cols, row, 0);
  for (int32_t col = 0; col < in_cols; col += 2, at += 2 * kPanelRows) {
    at[0] = source[col];
    at[1] = source[col + 1];
  }
}

void unpack_row(const uint16_t* panels, int32_t in_cols, int32_t row, float* out) {
  const uint16_t* at = panels + place(in_cols, row, 0);
  for (int32_t col = 0; col < in_cols; col += 2, at += 2 * kPanelRows) {
    out[col] = bf16_to_f32(at[0]);
    out[col + 1] = bf16_to_f32(at[1]);
  }
}

}  // namespace slipstream
