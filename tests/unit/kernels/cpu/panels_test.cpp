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

constexpr WeightFormat kSmallFormats[] = {WeightFormat::q8_0, WeightFormat::q4_0, WeightFormat::q4_1, WeightFormat::q5_1,
                                          WeightFormat::q6_k};

// What a block of random bytes stands for (dequantise_test.cpp and block_runs_test.cpp have GGUF's
// own reading; q6_k is ours).
TEST(Panels, KeepTheBlocksOfAFileToTheBit) {
  constexpr int32_t kRows = 41, kCols = 96;
  std::mt19937 random(5);
  for (const auto format : kSmallFormats) {
    const auto size = at(block_bytes(format)), row_bytes = kCols / 32 * size;
    std::vector<std::byte> blocks(kRows * row_bytes), panels = panels_for(format, kRows, kCols);
    for (auto& byte : blocks) byte = static_cast<std::byte>(random());
    for (size_t block = 0; block < blocks.size(); block += size) {
      for (int32_t i = 1; i < header_bytes(format); i += 2)
        blocks[block + at(i)] &= std::byte{0xBF};  // scales of files are finite
    }
    for (const PanelLayout layout : kLayouts) {
      for (int32_t r = 0; r < kRows; ++r) {
        pack_blocks(format, layout, &blocks[at(r) * row_bytes], kCols, r, panels.data());
      }
      for (int32_t r = 0; r < kRows; ++r) {
        std::vector<float> out(kCols), expected(kCols);
        unpack_row(format, layout, panels.data(), kCols, r, out.data());
        for (size_t block = 0; block < kCols / 32; ++block) {
          QuantizedBlock::read(format, &blocks[at(r) * row_bytes + block * size]).numbers(format, &expected[block * 32]);
        }
        EXPECT_EQ(out, expected) << name(format) << " row " << r;
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
  for (const auto& [format, steps] : {std::pair(WeightFormat::q8_0, 127.0F),
                                      {WeightFormat::q4_0, 8.0F},
                                      {WeightFormat::q4_1, 7.5F},
                                      {WeightFormat::q5_1, 15.5F},
                                      {WeightFormat::q6_k, 32.0F}}) {
    std::vector<std::byte> blocks(at(3 * block_bytes(format))), panels = panels_for(format, 1, 70);
    quantize(format, values.data(), 70, blocks.data());
    pack_blocks(format, PanelLayout::words, blocks.data(), 70, 0, panels.data());
    unpack_row(format, PanelLayout::words, panels.data(), 70, 0, back.data());
    for (size_t i = 0; i < values.size(); ++i) {
      float most = 0;
      for (size_t j = i / 32 * 32; j < std::min<size_t>(70, i / 32 * 32 + 32); ++j) most = std::max(most, std::abs(values[j]));
      // Half a step; a whole one at the end of the grids of q4_0 and q6_k, which are one short on one
      // side; the scale's own rounding.
      const bool short_grid = zero_of(format) == 8 || zero_of(format) == 32;
      EXPECT_NEAR(back[i], values[i], most / steps * (short_grid ? 1.01F : 0.51F) + most * 0x1p-10F);
    }
  }
}

TEST(Panels, QuantiseZerosToZeros) {
  const std::vector<float> values(32);
  std::vector<float> back(32, 1.0F);
  for (const auto format : kSmallFormats) {
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
