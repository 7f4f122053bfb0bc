// How a matrix lies in memory for linear: panels of 32 output rows, each read once from end to end.
//
// bf16: [in_cols / 2][32][2]. One pair of 64-byte words holds two neighbouring columns of 32 rows,
// what one VDPBF16PS step of two registers takes.
//
// The small formats are GGUF's, to the bit: groups of 32 columns, weight = scale * (q - 128), q 8
// bits (q8_0: the file's signed q and 128); scale * (q - 8), q 4 bits (q4_0); or scale * q +
// minimum, q 4 bits (q4_1); scales and minima f16. A panel is, for each group, [32] scales, [32]
// minima in q4_1, then q as [2 halves][8][16 rows][4 columns] bytes: a 64-byte word is what one
// VPDPBUSD takes, a half what one AMX tile does. In four bits, words j and j + 4 share one, the
// former in the low nibbles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace slipstream {

enum class WeightFormat : uint8_t { bf16, q8_0, q4_0, q4_1 };
inline constexpr int kWeightFormats = 4;
inline constexpr WeightFormat kAllWeightFormats[kWeightFormats] = {WeightFormat::bf16, WeightFormat::q8_0, WeightFormat::q4_0,
                                                                   WeightFormat::q4_1};
const char* name(WeightFormat format);
std::optional<WeightFormat> weight_format(std::string_view name);

inline constexpr int32_t kPanelRows = 32;
inline constexpr int32_t kGroupColumns = 32;

constexpr int32_t panels_of(int32_t out_rows) { return (out_rows + kPanelRows - 1) / kPanelRows; }
constexpr int32_t groups_of(int32_t in_cols) { return (in_cols + kGroupColumns - 1) / kGroupColumns; }
constexpr int64_t group_bytes(WeightFormat format) {  // of a small format's 32 rows
  return format == WeightFormat::q8_0 ? 1088 : format == WeightFormat::q4_0 ? 576 : 640;
}
constexpr int64_t panel_bytes(WeightFormat format, int32_t in_cols) {
  return format == WeightFormat::bf16 ? int64_t{in_cols} * kPanelRows * 2 : groups_of(in_cols) * group_bytes(format);
}

float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);  // to the nearest, ties to even; NaN stays NaN
float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);  // to the nearest, ties to even; NaN stays NaN

// Row `row` of the matrix, [in_cols] bf16 at any address, into its place among the panels. in_cols
// is even. Rows of different panels may be packed at the same time, by this and by pack_blocks.
void pack_row(const std::byte* source, int32_t in_cols, int32_t row, std::byte* panels);

// A row in a small format, as GGUF has it: in_cols / 32 blocks of f16 scale (, f16 minimum) and q,
// 34, 18 or 20 bytes each.
constexpr int64_t block_bytes(WeightFormat format) {
  return format == WeightFormat::q8_0 ? 34 : format == WeightFormat::q4_0 ? 18 : 20;
}
void pack_blocks(WeightFormat format, const std::byte* blocks, int32_t in_cols, int32_t row, std::byte* panels);

// Makes such blocks of [in_cols] floats, as llama.cpp's reference quantisation does; columns behind
// the last are 0.
void quantize(WeightFormat format, const float* source, int32_t in_cols, std::byte* blocks);

// Whether a row as pack_row ([in_cols] bf16) or pack_blocks takes it holds finite numbers only.
bool finite_row(WeightFormat format, const std::byte* row, int32_t in_cols);

// The row's weights back, [in_cols].
void unpack_row(WeightFormat format, const std::byte* panels, int32_t in_cols, int32_t row, float* out);

}  // namespace slipstream
