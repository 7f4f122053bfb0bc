#include "kernels/cpu/panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace slipstream {
namespace {

constexpr int32_t kScalesBytes = kPanelRows * kScaleBytes;  // the scales, or the minima, of a group

// The place of the first two columns of a row, in bf16.
std::byte* pair_at(std::byte* panels, int32_t in_cols, int32_t row) {
  return panels + row / kPanelRows * panel_bytes(WeightFormat::bf16, in_cols) + row % kPanelRows * 4;
}

// The byte, among a group's q, and the bits in which column `col` of a row has its q.
struct Place {
  int64_t byte;
  int shift, mask;
};
Place place(WeightFormat format, PanelLayout layout, int32_t row, int32_t col) {
  const int32_t within = row % kPanelRows;
  if (layout == PanelLayout::rows) {
    if (format == WeightFormat::q8_0) return {within * kGroupColumns + col, 0, 255};
    return {(within / 4 * kGroupColumns + col) * 2 + within % 4 / 2, within % 2 * 4, 15};
  }
  const int32_t half = within / 16, word = col / 4;
  const int64_t at = within % 16 * 4 + col % 4;
  if (format == WeightFormat::q8_0) return {(half * 8 + word) * 64 + at, 0, 255};
  return {(half * 4 + word % 4) * 64 + at, word / 4 * 4, 15};
}

int64_t header_bytes(WeightFormat format) { return format == WeightFormat::q4_1 ? 2 * kScalesBytes : kScalesBytes; }

// Copies a block's q to a row's words. Four bytes of a block become the row's four bytes of one
// word. With four bits that works without unpacking: a byte of a block holds columns i and i + 16,
// and so does a byte of a word, since words j and j + 4 share it.
void put_words(WeightFormat format, const std::byte* q, int32_t within, std::byte* to) {
  const int32_t words = format == WeightFormat::q8_0 ? 8 : 4;
  const uint32_t signs = format == WeightFormat::q8_0 ? 0x80808080 : 0;  // adds 128 to each signed byte
  to += within / 16 * words * 64 + within % 16 * 4;
  for (int32_t word = 0; word < words; ++word, q += 4, to += 64) {
    uint32_t four;
    std::memcpy(&four, q, sizeof(four));
    four ^= signs;
    std::memcpy(to, &four, sizeof(four));
  }
}

// Copies a block's q to a row, beside the three rows with which four bits share their words.
void put_columns(WeightFormat format, const std::byte* q, int32_t within, std::byte* to) {
  if (format == WeightFormat::q8_0) {
    std::memcpy(to + within * kGroupColumns, q, kGroupColumns);
    return;
  }
  to += within / 4 * kGroupColumns * 2;
  uint16_t words[kGroupColumns];
  std::memcpy(words, to, sizeof(words));
  const int shift = within % 4 * 4;
  for (int32_t i = 0; i < kGroupColumns / 2; ++i) {
    const auto two = std::to_integer<unsigned>(q[i]);
    words[i] = static_cast<uint16_t>((words[i] & ~(15U << shift)) | (two & 15) << shift);
    words[i + kGroupColumns / 2] =
        static_cast<uint16_t>((words[i + kGroupColumns / 2] & ~(15U << shift)) | (two >> 4) << shift);
  }
  std::memcpy(to, words, sizeof(words));
}

// Copies a block into a panel.
void put(WeightFormat format, PanelLayout layout, const std::byte* block, int32_t row, std::byte* panel) {
  const int32_t within = row % kPanelRows;
  std::memcpy(panel + within * kScaleBytes, block, kScaleBytes);
  block += kScaleBytes;
  if (format == WeightFormat::q4_1) {
    std::memcpy(panel + kScalesBytes + within * kScaleBytes, block, kScaleBytes);
    block += kScaleBytes;
  }
  (layout == PanelLayout::words ? put_words : put_columns)(format, block, within, panel + header_bytes(format));
}

// Reads a group back from a panel.
QuantizedBlock get(WeightFormat format, PanelLayout layout, const std::byte* panel, int32_t row) {
  QuantizedBlock group{.scale = load_half(panel + row % kPanelRows * kScaleBytes)};
  if (format == WeightFormat::q4_1) group.minimum = load_half(panel + kScalesBytes + row % kPanelRows * kScaleBytes);
  const int signs = format == WeightFormat::q8_0 && layout == PanelLayout::rows ? 0x80 : 0;
  for (int32_t col = 0; col < kGroupColumns; ++col) {
    const Place at = place(format, layout, row, col);
    const int q = std::to_integer<int>(panel[header_bytes(format) + at.byte]) >> at.shift & at.mask;
    group.q[col] = static_cast<uint8_t>(q ^ signs);
  }
  return group;
}

uint8_t steps(float value, float most) { return static_cast<uint8_t>(std::clamp(value, 0.0F, most)); }

// Quantises a group as llama.cpp's reference does. The number of the largest magnitude becomes an
// end of the grid: +-127 in q8_0, and -8 in q4_0, which has no +8. In q4_1 the grid spans the least
// to the most.
QuantizedBlock quantized(WeightFormat format, const float (&values)[kGroupColumns]) {
  const auto [least, most] = std::minmax_element(values, values + kGroupColumns);
  const float extreme = std::abs(*least) > std::abs(*most) ? *least : *most;
  const float scale = format == WeightFormat::q8_0   ? std::abs(extreme) / 127.0F
                      : format == WeightFormat::q4_0 ? extreme / -8.0F
                                                     : (*most - *least) / 15.0F;
  const float per_step = scale == 0.0F ? 0.0F : 1.0F / scale;
  QuantizedBlock group{.scale = f32_to_f16(scale), .minimum = format == WeightFormat::q4_1 ? f32_to_f16(*least) : uint16_t{0}};
  for (int32_t i = 0; i < kGroupColumns; ++i) {
    switch (format) {
      case WeightFormat::q8_0:
        group.q[i] = static_cast<uint8_t>(128 + static_cast<int>(std::round(values[i] * per_step)));
        break;
      case WeightFormat::q4_0:
        group.q[i] = steps(values[i] * per_step + 8.5F, 15.0F);
        break;
      default:
        group.q[i] = steps((values[i] - *least) * per_step + 0.5F, 15.0F);
    }
  }
  return group;
}

}  // namespace

const char* name(WeightFormat format) {
  constexpr const char* kNames[kWeightFormats] = {"bf16", "q8_0", "q4_0", "q4_1"};
  return kNames[static_cast<int>(format)];
}

std::optional<WeightFormat> weight_format(std::string_view wanted) {
  for (const WeightFormat format : kAllWeightFormats) {
    if (wanted == name(format)) return format;
  }
  return std::nullopt;
}

void pack_row(const std::byte* source, int32_t in_cols, int32_t row, std::byte* panels) {
  std::byte* at = pair_at(panels, in_cols, row);
  for (int32_t col = 0; col < in_cols; col += 2, source += 4, at += 4 * kPanelRows) std::memcpy(at, source, 4);
}

void pack_blocks(WeightFormat format, PanelLayout layout, const std::byte* blocks, int32_t in_cols, int32_t row,
                 std::byte* panels) {
  std::byte* panel = panels + row / kPanelRows * panel_bytes(format, in_cols);
  for (int32_t i = 0; i < groups_of(in_cols); ++i, blocks += block_bytes(format), panel += group_bytes(format)) {
    put(format, layout, blocks, row, panel);
  }
}

void pack_floats(WeightFormat format, PanelLayout layout, const float* source, int32_t in_cols, int32_t row,
                 std::byte* panels) {
  if (format == WeightFormat::bf16) {
    std::vector<uint16_t> rounded(static_cast<size_t>(in_cols));
    std::transform(source, source + in_cols, rounded.begin(), f32_to_bf16);
    return pack_row(reinterpret_cast<const std::byte*>(rounded.data()), in_cols, row, panels);
  }
  std::vector<std::byte> blocks(static_cast<size_t>(groups_of(in_cols) * block_bytes(format)));
  quantize(format, source, in_cols, blocks.data());
  pack_blocks(format, layout, blocks.data(), in_cols, row, panels);
}

bool finite_row(WeightFormat format, const std::byte* row, int32_t in_cols) {
  // A number is not finite if its exponent is all ones. bf16, four numbers at a time: with the sign
  // masked out, adding the lowest bit of the exponent carries into the sign's place exactly then.
  if (format == WeightFormat::bf16) {
    constexpr uint64_t kExponents = 0x7F807F807F807F80, kLowest = 0x0080008000800080, kSigns = 0x8000800080008000;
    const int64_t bytes = int64_t{in_cols} * 2;
    uint64_t seen = 0;
    for (int64_t at = 0; at < bytes; at += 8) {
      uint64_t four = 0;
      std::memcpy(&four, row + at, static_cast<size_t>(std::min<int64_t>(8, bytes - at)));
      seen |= (four & kExponents) + kLowest;
    }
    return (seen & kSigns) == 0;
  }
  bool finite = true;
  for (int32_t i = 0; i < groups_of(in_cols); ++i, row += block_bytes(format)) {
    constexpr uint16_t kExponent = 0x7C00;
    finite = finite && (load_half(row) & kExponent) != kExponent;
    if (format == WeightFormat::q4_1) finite = finite && (load_half(row + kScaleBytes) & kExponent) != kExponent;
  }
  return finite;
}

void quantize(WeightFormat format, const float* source, int32_t in_cols, std::byte* blocks) {
  for (int32_t col = 0; col < in_cols; col += kGroupColumns, blocks += block_bytes(format)) {
    float values[kGroupColumns] = {};
    std::copy_n(source + col, std::min(kGroupColumns, in_cols - col), values);
    quantized(format, values).write(format, blocks);
  }
}

void unpack_row(WeightFormat format, PanelLayout layout, const std::byte* panels, int32_t in_cols, int32_t row, float* out) {
  if (format == WeightFormat::bf16) {
    const std::byte* at = pair_at(const_cast<std::byte*>(panels), in_cols, row);
    for (int32_t col = 0; col < in_cols; ++col) out[col] = bf16_to_f32(load_half(at + col / 2 * 4 * kPanelRows + col % 2 * 2));
    return;
  }
  const std::byte* panel = panels + row / kPanelRows * panel_bytes(format, in_cols);
  for (int32_t col = 0; col < in_cols; col += kGroupColumns, panel += group_bytes(format)) {
    float numbers[kGroupColumns];
    get(format, layout, panel, row).numbers(format, numbers);
    std::copy_n(numbers, std::min(kGroupColumns, in_cols - col), out + col);
  }
}

}  // namespace slipstream
