// Packing: nothing of a file's numbers is lost.
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/panels.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream {
namespace {

constexpr PanelLayout kLayouts[] = {PanelLayout::words, PanelLayout::rows};

// Memory that held something else before.
std::vector<std::byte> panels_for(WeightFormat format, int32_t rows, int32_t cols) {
  return std::vector<std::byte>(at(panels_of(rows) * panel_bytes(format, cols)), std::byte{0xA5});
}

TEST(Panels, GiveBackWhatWasPacked) {
  constexpr int32_t kRows = 70, kCols = 6;
  std::vector<std::byte> panels = panels_for(WeightFormat::bf16, kRows, kCols);
  std::vector<uint16_t> row(kCols);
  const auto value = [](int32_t r, int32_t c) { return f32_to_bf16(static_cast<float>(r * kCols + c)); };
  for (int32_t r = 0; r < kRows; ++r) {
    for (int32_t c = 0; c < kCols; ++c) row[at(c)] = value(r, c);
    pack_row(std::as_bytes(std::span(row)).data(), kCols, r, panels.data());
  }
  std::vector<float> out(kCols);
  for (int32_t r = 0; r < kRows; ++r) {
    unpack_row(WeightFormat::bf16, PanelLayout::words, panels.data(), kCols, r, out.data());
    for (int32_t c = 0; c < kCols; ++c) EXPECT_EQ(out[at(c)], bf16_to_f32(value(r, c)));
  }
}

// GGUF's own reading of a block (ggml's dequantize_row_q8_0, _q4_0, _q4_1), for random bytes.
TEST(Panels, KeepTheBlocksOfAFileToTheBit) {
  constexpr int32_t kRows = 41, kCols = 96;
  std::mt19937 random(5);
  for (const auto format : {WeightFormat::q8_0, WeightFormat::q4_0, WeightFormat::q4_1}) {
    const int64_t size = block_bytes(format), header = format == WeightFormat::q4_1 ? 4 : 2;
    std::vector<std::byte> blocks(at(kRows * kCols / 32 * size)), panels = panels_for(format, kRows, kCols);
    for (auto& byte : blocks) byte = static_cast<std::byte>(random());
    for (size_t block = 0; block < blocks.size(); block += at(size)) {
      blocks[block + 1] &= std::byte{0xBF};  // scales of files are finite
      if (header == 4) blocks[block + 3] &= std::byte{0xBF};
    }
    const auto half = [&](int64_t from) {
      uint16_t bits;
      std::memcpy(&bits, blocks.data() + from, 2);
      return f16_to_f32(bits);
    };
    std::vector<float> out(kCols);
    for (const PanelLayout layout : kLayouts) {
      for (int32_t r = 0; r < kRows; ++r) {
        pack_blocks(format, layout, blocks.data() + r * kCols / 32 * size, kCols, r, panels.data());
      }
      for (int32_t r = 0; r < kRows; ++r) {
        unpack_row(format, layout, panels.data(), kCols, r, out.data());
        for (int32_t c = 0; c < kCols; ++c) {
          const int64_t block = (r * kCols + c) / 32 * size;
          const int32_t i = c % 32;
          const auto byte = std::to_integer<int>(blocks[at(block + header + (format == WeightFormat::q8_0 ? i : i % 16))]);
          const int q = format == WeightFormat::q8_0 ? static_cast<int8_t>(byte) : (i < 16 ? byte : byte >> 4) & 15;
          const float expected = format == WeightFormat::q8_0   ? static_cast<float>(q) * half(block)
                                 : format == WeightFormat::q4_0 ? static_cast<float>(q - 8) * half(block)
                                                                : static_cast<float>(q) * half(block) + half(block + 2);
          EXPECT_EQ(out[at(c)], expected) << name(format) << " row " << r << " column " << c;
        }
      }
    }
  }
}

TEST(Panels, QuantiseToWithinAStep) {
  std::mt19937 random(6);
  std::normal_distribution<float> draw;
  std::vector<float> values(70), back(70);
  for (float& each : values) each = draw(random);
  values[40] = 0.0F;
  for (const auto& [format, steps] :
       {std::pair(WeightFormat::q8_0, 127.0F), {WeightFormat::q4_0, 8.0F}, {WeightFormat::q4_1, 7.5F}}) {
    std::vector<std::byte> blocks(at(3 * block_bytes(format))), panels = panels_for(format, 1, 70);
    quantize(format, values.data(), 70, blocks.data());
    pack_blocks(format, PanelLayout::words, blocks.data(), 70, 0, panels.data());
    unpack_row(format, PanelLayout::words, panels.data(), 70, 0, back.data());
    for (size_t i = 0; i < values.size(); ++i) {
      float most = 0;
      for (size_t j = i / 32 * 32; j < std::min<size_t>(70, i / 32 * 32 + 32); ++j) most = std::max(most, std::abs(values[j]));
      // Half a step; a whole one at the end of q4_0's grid, which is one short on one side; the
      // scale's own rounding.
      EXPECT_NEAR(back[i], values[i], most / steps * (format == WeightFormat::q4_0 ? 1.01F : 0.51F) + most * 0x1p-10F);
    }
  }
}

TEST(Panels, QuantiseZerosToZeros) {
  const std::vector<float> values(32);
  std::vector<float> back(32, 1.0F);
  for (const auto format : {WeightFormat::q8_0, WeightFormat::q4_0, WeightFormat::q4_1}) {
    std::vector<std::byte> blocks(at(block_bytes(format))), panels = panels_for(format, 1, 32);
    quantize(format, values.data(), 32, blocks.data());
    for (const PanelLayout layout : kLayouts) {
      pack_blocks(format, layout, blocks.data(), 32, 0, panels.data());
      unpack_row(format, layout, panels.data(), 32, 0, back.data());
      EXPECT_EQ(back, values) << name(format);
    }
  }
}

}  // namespace
}  // namespace slipstream
