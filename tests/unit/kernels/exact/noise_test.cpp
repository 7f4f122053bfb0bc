#include "kernels/exact/noise.h"

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

// The known answers that come with the generator (Random123, kat_vectors, philox4x32 10).
static_assert(philox({{0, 0, 0, 0}}, 0) == PhiloxWords{{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}});
static_assert(philox({{~0u, ~0u, ~0u, ~0u}}, ~0ull) == PhiloxWords{{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}});
static_assert(philox({{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}}, 0x299F31D0A4093822ull) ==
              PhiloxWords{{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}});

// The rows of docs/design/NOISE.md's table with this heading, as cells.
std::vector<std::vector<std::string>> table(const std::string& heading) {
  std::ifstream page(std::string(SLIPSTREAM_SOURCE_FOLDER) + "/docs/design/NOISE.md");
  std::vector<std::vector<std::string>> rows;
  std::string line;
  while (std::getline(page, line) && line != heading) continue;
  std::getline(page, line);  // |---|
  while (std::getline(page, line) && line.starts_with("|")) {
    std::istringstream cells(line.substr(1));
    for (rows.emplace_back(); std::getline(cells, line, '|');) rows.back().push_back(line);
  }
  return rows;
}
uint64_t hex(const std::string& cell) { return std::stoull(cell, nullptr, 16); }
uint32_t hex_word(const std::string& cell) { return static_cast<uint32_t>(hex(cell)); }
uint32_t number(const std::string& cell) { return static_cast<uint32_t>(std::stoull(cell)); }

TEST(Noise, IsThatOfTheDocument) {
  const auto rows = table("| seed | choice | position | token | purpose | hi | lo | u | gumbel |");
  ASSERT_EQ(rows.size(), 16u);
  for (const auto& row : rows) {
    const NoiseKey key{hex(row[0]), number(row[1]), number(row[2]), static_cast<NoisePurpose>(number(row[4]))};
    const uint32_t token = number(row[3]), hi = noise_word(key, token, 0), lo = noise_word(key, token, 1);
    EXPECT_EQ(hi, hex_word(row[5]));
    EXPECT_EQ(lo, hex_word(row[6]));
    EXPECT_EQ(std::bit_cast<uint64_t>(noise_uniform(hi, lo)), hex(row[7]));
    EXPECT_EQ(std::bit_cast<uint64_t>(gumbel(key, token)), hex(row[8]));
  }
}

TEST(Noise, TurnsWordsIntoGumbelsAsTheDocumentDoes) {
  const auto rows = table("| hi | lo | u | gumbel | gumbel, about |");
  ASSERT_EQ(rows.size(), 11u);
  for (const auto& row : rows) {
    const uint32_t hi = hex_word(row[0]), lo = hex_word(row[1]);
    EXPECT_EQ(std::bit_cast<uint64_t>(noise_uniform(hi, lo)), hex(row[2]));
    EXPECT_EQ(std::bit_cast<uint64_t>(gumbel_of(hi, lo)), hex(row[3]));
  }
}

// Words of every magnitude from both ends.
uint32_t spread_word(std::mt19937_64& random) {
  const auto word = static_cast<uint32_t>(random() >> 32) >> random() % 32;
  return random() % 2 == 0 ? word : ~word;
}

double ulps_off(double value, long double exact) {
  const double size = std::abs(static_cast<double>(exact));
  return static_cast<double>(std::abs(exact - static_cast<long double>(value)) / (std::nextafter(size, INFINITY) - size));
}

TEST(NaturalLog, IsWithinTwoUlp) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300'000; ++i) {
    const double u = noise_uniform(spread_word(random), static_cast<uint32_t>(random()));
    const double exponential = -natural_log(u);
    ASSERT_GT(exponential, 0) << u;
    ASSERT_LE(ulps_off(-exponential, std::log(static_cast<long double>(u))), 2) << u;
    ASSERT_LE(ulps_off(natural_log(exponential), std::log(static_cast<long double>(exponential))), 2) << exponential;
  }
  EXPECT_EQ(natural_log(1.0), 0.0);
}

TEST(NaturalLog, IsExactNextToOne) {
  EXPECT_EQ(natural_log(1 - 0x1p-53), -0x1p-53);
  EXPECT_LT(natural_log(1 - 0x1p-52), natural_log(1 - 0x1p-53));
}

TEST(NoiseCeiling, NoLowWordExceedsIt) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 300'000; ++i) {
    const uint32_t hi = spread_word(random);
    ASSERT_LE(gumbel_of(hi, ~0u), noise_ceiling(hi)) << hi;  // the gumbel grows with lo: see the next test
  }
  for (int ones = 0; ones <= 32; ++ones) {  // the highest of each level
    const uint32_t hi = ones == 32 ? ~0u : ~(0x80000000u >> ones);
    EXPECT_LE(gumbel_of(hi, ~0u), noise_ceiling(hi)) << ones;
  }
}

TEST(NoiseCeiling, TheGumbelGrowsWithTheLowWord) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 300'000; ++i) {
    const uint32_t hi = spread_word(random), low = spread_word(random), high = spread_word(random);
    ASSERT_LE(gumbel_of(hi, std::min(low, high)), gumbel_of(hi, std::max(low, high)) + 1e-13);
    ASSERT_LE(gumbel_of(hi, low), noise_ceiling(hi));
  }
}

TEST(NoiseCeiling, IsNeverMuchTooHigh) {
  // Levels 1..24 lie at most 0.7 above the highest gumbel of their words; only one word in 2^24 has
  // the last level.
  for (uint32_t ones = 0; ones < 24; ++ones) {
    const uint32_t hi = ~(0x80000000u >> ones);
    EXPECT_EQ(noise_level(hi), ones + 1);
    EXPECT_LT(noise_ceiling(hi) - gumbel_of(hi, ~0u), 0.7);
  }
  EXPECT_EQ(noise_level(0xFFFFFF00u), kNoiseLevelMax);
}

}  // namespace
}  // namespace slipstream
