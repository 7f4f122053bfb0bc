// The layout of a weight matrix for the linear kernels: panels of 32 output rows. A kernel reads a
// panel once, from end to end.
//
// bf16: a panel is [in_cols / 2][32 rows][2 columns]. Two 64-byte words hold two neighbouring
// columns of 32 rows, which is what one VDPBF16PS step of two registers takes.
//
// The small formats have groups of 32 columns: the numbers of a block
// (kernels/exact/quantized_block.h). A panel holds for each group: [32] scales; [32] minima, or
// second scales, of formats that have them; then q in one of two layouts.
//
//   layout  q8_0                                          all others
//   words   [2 halves][8 words][16 rows][4 columns]       words j and j + 4 share one: word j has
//           bytes, 128 added; a word has 64 bytes, one    the low nibbles, word j + 4 the high ones
//           VPDPBUSD takes it
//   rows    [32 rows][32 columns] signed bytes            [8][32 columns][4 rows] nibbles, so that
//                                                         one word of 16 bits has a column of four
//                                                         neighbouring rows; the first has the low bits
//
// The bits of q above its nibble follow:
//
//   layout  q5_1                                          q6_k
//   words   in each half, one word: bit j of a byte is    two words: the first has words 0 to 3, two
//           of word j                                     bits of each in a byte, the second 4 to 7
//   rows    [4][32 columns] bytes: a bit of each of       [8][32 columns] bytes: two bits of each of
//           eight neighbouring rows                       four neighbouring rows
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/exact/quantized_block.h"

namespace slipstream {

inline constexpr int kWeightFormats = 6;
inline constexpr WeightFormat kAllWeightFormats[kWeightFormats] = {WeightFormat::bf16, WeightFormat::q8_0, WeightFormat::q4_0,
                                                                   WeightFormat::q4_1, WeightFormat::q5_1, WeightFormat::q6_k};
const char* name(WeightFormat format);
std::optional<WeightFormat> weight_format(std::string_view name);

// How the q of a small format lie in a panel; bf16 has one layout only.
enum class PanelLayout : uint8_t { words, rows };

inline constexpr int32_t kPanelRows = 32;
inline constexpr int32_t kGroupColumns = kBlockNumbers;

constexpr int32_t panels_of(int32_t out_rows) { return (out_rows + kPanelRows - 1) / kPanelRows; }
constexpr int32_t groups_of(int32_t in_cols) { return (in_cols + kGroupColumns - 1) / kGroupColumns; }
constexpr int64_t group_bytes(WeightFormat format) {  // of one group of a panel, in a small format
  return kPanelRows * block_bytes(format);
}
inline constexpr int32_t kScalesBytes = kPanelRows * kScaleBytes;  // the scales of a group, or what else it has of each row
constexpr int64_t group_header_bytes(WeightFormat format) {        // all of those
  return int64_t{kPanelRows} * header_bytes(format);
}
// Distance in bytes between the words of a group's first half and those of its second half.
constexpr int32_t half_bytes(WeightFormat format) {
  return static_cast<int32_t>(group_bytes(format) - group_header_bytes(format)) / 2;
}
constexpr int64_t panel_bytes(WeightFormat format, int32_t in_cols) {
  return format == WeightFormat::bf16 ? int64_t{in_cols} * kPanelRows * 2 : groups_of(in_cols) * group_bytes(format);
}

// Packs row `row` of a matrix into the panels. source: [in_cols] bf16, at any address. REQUIRES
// (unchecked): in_cols is even. Threads: rows of different panels may be packed at the same time,
// by this function and by pack_blocks.
void pack_row(const std::byte* source, int32_t in_cols, int32_t row, std::byte* panels);

// Packs a row in a small format. blocks: a block for each 32 columns.
void pack_blocks(WeightFormat format, PanelLayout layout, const std::byte* blocks, int32_t in_cols, int32_t row,
                 std::byte* panels);

// Quantises [in_cols] floats to such blocks, as llama.cpp's reference does (of q6_k: as it does
// q4_0's). The last block is padded with zeros.
void quantize(WeightFormat format, const float* source, int32_t in_cols, std::byte* blocks);

// Rounds [in_cols] finite floats to a format, and packs them as a row. Allocates, so it is for few
// rows.
void pack_floats(WeightFormat format, PanelLayout layout, const float* source, int32_t in_cols, int32_t row, std::byte* panels);

// Whether all numbers of a row are finite. row: in the form that pack_row or pack_blocks takes.
bool finite_row(WeightFormat format, const std::byte* row, int32_t in_cols);

// Reads row `row` back from the panels as floats: out [in_cols].
void unpack_row(WeightFormat format, PanelLayout layout, const std::byte* panels, int32_t in_cols, int32_t row, float* out);

}  // namespace slipstream
