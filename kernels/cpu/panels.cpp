#include "kernels/cpu/panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

namespace slipstream {
namespace {

// The place of the first two columns of a row, in bf16.
std::byte* pair_at(std::byte* panels, int32_t in_cols, int32_t row) {
  return panels + row / kPanelRows * panel_bytes(WeightFormat::bf16, in_cols) + row % kPanelRows * 4;
}

// The byte, among a group's q, and the bits in which column `col` of a row has a part of its q.
struct Place {
  int64_t byte;
  int shift, mask;
};
// All of q8_0, the lower four bits of other formats.
Place low_place(WeightFormat format, PanelLayout layout, int32_t row, int32_t col) {
  const int32_t within = row % kPanelRows;
  if (layout == PanelLayout::rows) {
    if (format == WeightFormat::q8_0) return {within * kGroupColumns + col, 0, 255};
    return {(within / 4 * kGroupColumns + col) * 2 + within % 4 / 2, within % 2 * 4, 15};
  }
  const int32_t word = col / 4;
  const int64_t at = within / 16 * half_bytes(format) + within % 16 * 4 + col % 4;
  if (format == WeightFormat::q8_0) return {at + word * 64, 0, 255};
  return {at + word % 4 * 64, word / 4 * 4, 15};
}
// The bits above them, of formats that have such.
Place high_place(WeightFormat format, PanelLayout layout, int32_t row, int32_t col) {
  const int32_t within = row % kPanelRows, bits = high_bits(format), together = 8 / bits;  // in a byte
  const int mask = (1 << bits) - 1;
  if (layout == PanelLayout::rows) {
    constexpr int64_t kLowBytes = kPanelRows * kGroupColumns / 2;
    return {kLowBytes + within / together * kGroupColumns + col, within % together * bits, mask};
  }
  const int32_t word = col / 4;
  const int64_t at = within / 16 * half_bytes(format) + within % 16 * 4 + col % 4;
  return {at + (4 + word / together) * 64, word % together * bits, mask};
}

// Copies a block's q to a row's words. Four bytes of a block become the row's four bytes of one
// word. With four bits that works without unpacking: a byte of a block holds columns i and i + 16,
// and so does a byte of a word, since words j and j + 4 share it.
void put_words(WeightFormat format, const std::byte* q, int32_t within, std::byte* to) {
  const int32_t words = format == WeightFormat::q8_0 ? 8 : 4;
  const uint32_t signs = format == WeightFormat::q8_0 ? 0x80808080 : 0;  // adds 128 to each signed byte
  to += within / 16 * half_bytes(format) + within % 16 * 4;
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

// Copies the high bits of a block to their places, beside those of other columns or rows.
void put_high_bits(WeightFormat format, PanelLayout layout, const std::byte* high, int32_t row, std::byte* to) {
  for (int32_t col = 0; col < kGroupColumns; ++col) {
    const auto [from, from_shift] = high_bits_of(format, col);
    const Place at = high_place(format, layout, row, col);
    const int bits = std::to_integer<int>(high[from]) >> from_shift & at.mask;
    to[at.byte] = (to[at.byte] & ~std::byte(at.mask << at.shift)) | std::byte(bits << at.shift);
  }
}

// Copies a block into a panel.
void put(WeightFormat format, PanelLayout layout, const std::byte* block, int32_t row, std::byte* panel) {
  const int32_t within = row % kPanelRows;
  for (int32_t at = 0; at < header_bytes(format); at += kScaleBytes, block += kScaleBytes) {
    std::memcpy(panel + at * kPanelRows + within * kScaleBytes, block, kScaleBytes);
  }
  panel += group_header_bytes(format);
  (layout == PanelLayout::words ? put_words : put_columns)(format, block + high_bytes(format), within, panel);
  if (high_bits(format) > 0) put_high_bits(format, layout, block, row, panel);
}

// Reads a group back from a panel.
QuantizedBlock get(WeightFormat format, PanelLayout layout, const std::byte* panel, int32_t row) {
  const std::byte* header = panel + row % kPanelRows * kScaleBytes;
  QuantizedBlock group{.scale = load_half(header)};
  if (header_bytes(format) > kScaleBytes) group.second = load_half(header + kScalesBytes);
  panel += group_header_bytes(format);
  const auto bits = [panel](const Place& at) { return std::to_integer<int>(panel[at.byte]) >> at.shift & at.mask; };
  const int signs = format == WeightFormat::q8_0 && layout == PanelLayout::rows ? 0x80 : 0;
  for (int32_t col = 0; col < kGroupColumns; ++col) {
    int q = bits(low_place(format, layout, row, col)) ^ signs;
    if (high_bits(format) > 0) q |= bits(high_place(format, layout, row, col)) << 4;
    group.q[col] = static_cast<uint8_t>(q);
  }
  return group;
}

uint8_t steps(float value, float most) { return static_cast<uint8_t>(std::clamp(value, 0.0F, most)); }

// Quantises numbers that share a scale, as llama.cpp's reference does. The number of the largest
// magnitude becomes an end of the grid: +-127 in q8_0, and the lowest in q4_0 and q6_k, whose grids
// are one step shorter above 0. With a minimum, the grid spans the least to the most.
struct Run {
  float scale = 0, minimum = 0;
};
Run quantized(WeightFormat format, std::span<const float> values, uint8_t* q) {
  const auto [least, most] = std::ranges::minmax(values);
  const float extreme = std::abs(least) > std::abs(most) ? least : most;
  const auto steps_up = static_cast<float>(most_q(format));
  Run run;
  if (format == WeightFormat::q8_0) {
    run.scale = std::abs(extreme) / 127.0F;
  } else if (has_minimum(format)) {
    run = {.scale = (most - least) / steps_up, .minimum = least};
  } else {
    run.scale = extreme / static_cast<float>(-zero_of(format));
  }
  const float per_step = run.scale == 0.0F ? 0.0F : 1.0F / run.scale;
  for (const float value : values) {
    if (format == WeightFormat::q8_0) {
      *q++ = static_cast<uint8_t>(128 + static_cast<int>(std::round(value * per_step)));
    } else {
      *q++ = steps((value - run.minimum) * per_step + (static_cast<float>(zero_of(format)) + 0.5F), steps_up);
    }
  }
  return run;
}

QuantizedBlock quantized(WeightFormat format, const float (&values)[kGroupColumns]) {
  QuantizedBlock group;
  const int32_t numbers = run_numbers(format);
  const Run first = quantized(format, {values, static_cast<size_t>(numbers)}, group.q);
  group.scale = f32_to_f16(first.scale);
  group.second = f32_to_f16(first.minimum);
  if (numbers < kGroupColumns) {
    group.second = f32_to_f16(quantized(format, {values + numbers, static_cast<size_t>(numbers)}, group.q + numbers).scale);
  }
  return group;
}

}  // namespace

const char* name(WeightFormat format) {
  constexpr const char* kNames[kWeightFormats] = {"bf16", "q8_0", "q4_0", "q4_1", "q5_1", "q6_k"};
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
    for (int32_t at = 0; at < header_bytes(format); at += kScaleBytes) {
      finite = finite && (load_half(row + at) & kExponent) != kExponent;
    }
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
