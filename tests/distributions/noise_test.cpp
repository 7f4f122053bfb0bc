// The noise is uniform, and independent across every part of its key. Counts are judged at the
// alpha of goodness_of_fit.h.
#include <array>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "kernels/exact/noise.h"
#include "tests/distributions/goodness_of_fit.h"

namespace slipstream {
namespace {

constexpr uint32_t kDraws = 200'000;
constexpr int kSide = 16;  // cells a side of a pair's table

struct Named {
  NoiseKey key;
  uint32_t token = 0;
};
double uniform_of(const Named& named) {
  return noise_uniform(noise_word(named.key, named.token, 0), noise_word(named.key, named.token, 1));
}

// Two values of the noise that must be independent, as a function of the draw.
struct Pair {
  std::string name;
  std::function<std::array<Named, 2>(uint32_t)> of;
};

double pair_p_value(const std::function<std::array<double, 2>(uint32_t)>& draw) {
  std::vector<uint64_t> counts(kSide * kSide);
  for (uint32_t i = 0; i < kDraws; ++i) {
    const auto [a, b] = draw(i);
    ++counts[static_cast<size_t>(a * kSide) * kSide + static_cast<size_t>(b * kSide)];
  }
  return p_value(counts, std::vector<double>(counts.size(), 1.0 / (kSide * kSide)));
}

TEST(NoiseDistribution, NeighboursInAnyPartOfTheKeyAreIndependent) {
  using enum NoisePurpose;
  const auto both = [](Named a, Named b) { return std::array{a, b}; };
  const std::vector<Pair> pairs = {
      {"seed and the next", [&](uint32_t i) { return both({{i, 0, 0, coupled}, 5}, {{i + 1, 0, 0, coupled}, 5}); }},
      {"seed and the next in its high word",
       [&](uint32_t i) { return both({{i, 0, 0, coupled}, 5}, {{i | 1ull << 32, 0, 0, coupled}, 5}); }},
      {"position and the next, over seeds", [&](uint32_t i) { return both({{i, 0, 3, coupled}, 5}, {{i, 0, 4, coupled}, 5}); }},
      {"position and the next, over positions",
       [&](uint32_t i) { return both({{9, 0, i, coupled}, 5}, {{9, 0, i + 1, coupled}, 5}); }},
      {"seed with position, the diagonal",
       [&](uint32_t i) { return both({{i, 0, 1, coupled}, 5}, {{i + 1, 0, 0, coupled}, 5}); }},
      {"choice and the next", [&](uint32_t i) { return both({{i, 0, 0, coupled}, 5}, {{i, 1, 0, coupled}, 5}); }},
      {"choice with position", [&](uint32_t i) { return both({{i, 0, 1, coupled}, 5}, {{i, 1, 0, coupled}, 5}); }},
      {"tokens of one counter", [&](uint32_t i) { return both({{i, 0, 0, coupled}, 4}, {{i, 0, 0, coupled}, 5}); }},
      {"outer tokens of one counter", [&](uint32_t i) { return both({{i, 0, 0, coupled}, 4}, {{i, 0, 0, coupled}, 7}); }},
      {"tokens of neighbouring counters", [&](uint32_t i) { return both({{i, 0, 0, coupled}, 4}, {{i, 0, 0, coupled}, 8}); }},
      {"token and the next, over tokens",
       [&](uint32_t i) { return both({{1, 0, 0, coupled}, i}, {{1, 0, 0, coupled}, i + 1}); }},
      {"coupled and draft", [&](uint32_t i) { return both({{i, 0, 0, coupled}, 5}, {{i, 0, 0, draft}, 5}); }},
      {"draft and accept", [&](uint32_t i) { return both({{i, 0, 0, draft}, 5}, {{i, 0, 0, accept}, 5}); }},
      {"accept and residual", [&](uint32_t i) { return both({{i, 0, 0, accept}, 5}, {{i, 0, 0, residual}, 5}); }},
  };
  for (const Pair& pair : pairs) {
    const double p = pair_p_value([&](uint32_t i) {
      const auto [a, b] = pair.of(i);
      return std::array{uniform_of(a), uniform_of(b)};
    });
    EXPECT_GT(p, kAlpha) << pair.name;
  }
}

TEST(NoiseDistribution, TheTwoHalvesOfATokenAreIndependent) {
  const auto share = [](uint32_t word) { return static_cast<double>(word) * 0x1p-32; };
  EXPECT_GT(pair_p_value([&](uint32_t i) {
              const NoiseKey key{i, 0, 0, NoisePurpose::coupled};
              return std::array{share(noise_word(key, 5, 0)), share(noise_word(key, 5, 1))};
            }),
            kAlpha);
}

TEST(NoiseDistribution, ACouplingOfOneDrawInFiftyWouldBeFound) {
  EXPECT_LT(pair_p_value([](uint32_t i) {
              const NoiseKey key{i, 0, 0, NoisePurpose::coupled};
              return std::array{uniform_of({key, 5}), uniform_of({key, i % 50 == 0 ? 5u : 6u})};
            }),
            kAlpha);
}

TEST(NoiseDistribution, IsUniform) {
  std::vector<uint64_t> counts(1024);
  for (uint32_t i = 0; i < 1'000'000; ++i) ++counts[static_cast<size_t>(uniform_of({{i >> 8, 0, 1, {}}, i & 255}) * 1024)];
  EXPECT_GT(p_value(counts, std::vector<double>(1024, 1.0 / 1024)), kAlpha);
}

TEST(NoiseDistribution, TheLowBitsAreUniformToo) {  // the last 8 of the 52 bits of u
  std::vector<uint64_t> counts(256);
  for (uint32_t i = 0; i < 400'000; ++i) ++counts[noise_word({i, 0, 2, {}}, 5, 1) >> 12 & 255];
  EXPECT_GT(p_value(counts, std::vector<double>(256, 1.0 / 256)), kAlpha);
}

// The sampled token of a vocabulary has noise in the upper tail, so its frequency must be right.
// The lower tail is tested too.
TEST(NoiseDistribution, BothTailsHaveTheirShare) {
  constexpr int kTail = 20;                 // binary digits: u < 2^-20, u >= 1 - 2^-20
  constexpr uint32_t kCounters = 1u << 24;  // four words each: 64 expected in each tail
  constexpr uint32_t kEdge = 1u << (32 - kTail);
  uint64_t low = 0, high = 0;
  for (uint32_t group = 0; group < kCounters; ++group) {
    for (uint32_t word : philox(noise_counter({11, 0, 0, {}}, group, 0), 11).word) {
      low += word < kEdge;
      high += word >= ~kEdge + 1;
    }
  }
  const double expected = std::ldexp(4.0 * kCounters, -kTail), spread = kAlphaDeviate * std::sqrt(expected);
  EXPECT_NEAR(static_cast<double>(low), expected, spread);
  EXPECT_NEAR(static_cast<double>(high), expected, spread);
}

}  // namespace
}  // namespace slipstream
