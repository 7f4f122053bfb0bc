// How a matrix lies in memory for linear: panels of 32 output rows, [in_cols / 2][32][2] bf16. One 64-byte word pair holds two
// neighbouring columns of 32 rows, what one VDPBF16PS step of two registers takes; a panel is read once from end to end.
#pragma once

#include <cstdint>

namespace slipstream {

inline constexpr int32_t kPanelRows = 32;

constexpr int64_t panel_elements(int32_t in_cols) { return int64_t{in_cols} * kPanelRows; }
constexpr int32_t panels_of(int32_t out_rows) { return (out_rows + kPanelRows - 1) / kPanelRows; }

float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);  // to the nearest, ties to even; NaN stays NaN
float f16_to_f32(uint16_t bits);

// Row `row` of the matrix, [in_cols] bf16, into or out of its place among the panels. in_cols is even.
void pack_row(const uint16_t* source, int32_t in_cols, int32_t row, uint16_t* panels);
void unpack_row(const uint16_t* panels, int32_t in_cols, int32_t row, float* out);

}  // namespace slipstream
