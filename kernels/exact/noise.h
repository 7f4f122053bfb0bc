// The noise behind every random decision: a pure function of (seed, choice, position, token,
// purpose) that gives the same bits on every machine.
//
//   word     Philox4x32-10 of the counter (token / 4, position, choice, purpose and half), under the key seed
//   uniform  u = (2x + 1) / 2^53, x the upper 52 bits of two words
//   gumbel   -log(-log(u)), by a logarithm of our own
//   level    an upper bound of gumbel from the high word alone
//
// docs/design/NOISE.md specifies it; this file is that page in C++20. It includes no header of
// ours, because sampling and the kernels of every device share it. It uses integer operations and
// IEEE + - * / on doubles only: no libm, no fused multiply-add (build with -ffp-contract=off, nvcc
// with -fmad=false).
#pragma once

#include <bit>
#include <cstdint>

#ifdef __CUDACC__
#define SLIPSTREAM_NOISE __host__ __device__ constexpr
#else
#define SLIPSTREAM_NOISE constexpr
#endif
// Functions that cpu kernels call are always inlined. Otherwise the linker could choose the copy
// that was compiled with one path's instructions for the whole program.
#define SLIPSTREAM_NOISE_INLINED [[gnu::always_inline]] SLIPSTREAM_NOISE

namespace slipstream {

// What the noise is used for. Two purposes never share a word.
enum class NoisePurpose : uint32_t { coupled = 0, draft = 1, accept = 2, residual = 3 };

// Identifies the noise of one output position: a value for each token of the vocabulary.
struct NoiseKey {
  uint64_t seed = 0;
  uint32_t choice = 0;    // index among the `n` choices of a request
  uint32_t position = 0;  // output position
  NoisePurpose purpose = NoisePurpose::coupled;
  bool operator==(const NoiseKey&) const = default;
};

// A counter or an output of the generator.
struct PhiloxWords {
  uint32_t word[4];
  bool operator==(const PhiloxWords&) const = default;
};

inline constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53u, kPhiloxMultiplier2 = 0xCD9E8D57u;
inline constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9u, kPhiloxWeyl1 = 0xBB67AE85u;
inline constexpr int kPhiloxRounds = 10;

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011).
SLIPSTREAM_NOISE PhiloxWords philox(PhiloxWords counter, uint64_t key) {
  auto [c0, c1, c2, c3] = counter.word;
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t p0 = uint64_t{kPhiloxMultiplier0} * c0, p2 = uint64_t{kPhiloxMultiplier2} * c2;
    c0 = static_cast<uint32_t>(p2 >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p2);
    c3 = static_cast<uint32_t>(p0);
    k0 += kPhiloxWeyl0;
    k1 += kPhiloxWeyl1;
  }
  return {{c0, c1, c2, c3}};
}

// The counter of four tokens' words; group = token / 4. Half 0 gives the high words, which nearly
// always show that a token cannot win. Half 1 gives the low words, needed for the few others only.
SLIPSTREAM_NOISE_INLINED PhiloxWords noise_counter(const NoiseKey& key, uint32_t group, uint32_t half) {
  return {{group, key.position, key.choice, static_cast<uint32_t>(key.purpose) << 1 | half}};
}
SLIPSTREAM_NOISE uint32_t noise_word(const NoiseKey& key, uint32_t token, uint32_t half) {
  return philox(noise_counter(key, token >> 2, half), key.seed).word[token & 3];
}

// u = (2x + 1) / 2^53, where x is hi followed by the upper 20 bits of lo. Exact, and strictly
// between 0 and 1.
SLIPSTREAM_NOISE double noise_uniform(uint32_t hi, uint32_t lo) {
  const uint64_t x = uint64_t{hi} << 20 | lo >> 12;
  return static_cast<double>(2 * x + 1) * 0x1p-53;
}

// log(value) within 2 ulp; exactly 0 at 1, and never of the wrong sign. REQUIRES (unchecked): a
// positive normal double.
SLIPSTREAM_NOISE double natural_log(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000F'FFFF'FFFF'FFFFull) | 0x3FF0'0000'0000'0000ull);  // [1, 2)
  if (m >= 0x1.6A09E667F3BCDp+0) {                                                                 // sqrt(2)
    m = m * 0.5;
    exponent = exponent + 1;
  }
  const double f = m - 1.0;  // exact
  const double s = f / (2.0 + f);
  const double z = s * s;
  double tail = 1.0 / 19.0;  // log(m) = 2s (1 + z/3 + z^2/5 + ... + z^9/19)
  tail = tail * z + 1.0 / 17.0;
  tail = tail * z + 1.0 / 15.0;
  tail = tail * z + 1.0 / 13.0;
  tail = tail * z + 1.0 / 11.0;
  tail = tail * z + 1.0 / 9.0;
  tail = tail * z + 1.0 / 7.0;
  tail = tail * z + 1.0 / 5.0;
  tail = tail * z + 1.0 / 3.0;
  const double twice = 2.0 * s;
  const auto k = static_cast<double>(exponent);
  // ln 2 in two parts: the first has 21 trailing zero bits, so that k times it is exact.
  const double low = twice * (z * tail) + k * 0x1.A39EF35793C76p-33;
  return k * 0x1.62E42FEEp-1 + (twice + low);
}

// -log(-log(u)).
SLIPSTREAM_NOISE double gumbel_of(uint32_t hi, uint32_t lo) {
  const double exponential = -natural_log(noise_uniform(hi, lo));
  return -natural_log(exponential);
}
SLIPSTREAM_NOISE double gumbel(const NoiseKey& key, uint32_t token) {
  return gumbel_of(noise_word(key, token, 0), noise_word(key, token, 1));
}

// The level of a token's noise: a small integer n with gumbel_of(hi, lo) <= n * kNoiseLevelNats for
// every lo. It follows from the high word alone, since -log(u) >= 1 - u >= 2^-n: n is the number of
// leading ones of hi plus 1, or kNoiseLevelMax, the level of the largest u, from 24 ones on.
inline constexpr double kNoiseLevelNats = 0x1.62E43p-1;  // ln 2, rounded up
inline constexpr uint32_t kNoiseLevelMax = 53;
SLIPSTREAM_NOISE_INLINED uint8_t noise_level(uint32_t hi) {
  const auto rest = static_cast<int32_t>(~hi >> 8);  // 24 bits: exact as a float, whose exponent is floor(log2)
  const uint32_t exponent = std::bit_cast<uint32_t>(static_cast<float>(rest)) >> 23;  // 0 when rest is 0
  const uint32_t level = 127 + 24 - exponent;
  return static_cast<uint8_t>(level < kNoiseLevelMax ? level : kNoiseLevelMax);
}
SLIPSTREAM_NOISE double noise_ceiling(uint32_t hi) { return noise_level(hi) * kNoiseLevelNats; }

// The levels of kNoiseBlock consecutive tokens. Each inner loop runs over 16 counters, so that
// compilers vectorise it. REQUIRES (unchecked): first_token is a multiple of 4.
inline constexpr int kNoiseBlock = 64;
[[gnu::always_inline]] inline void noise_levels(const NoiseKey& key, uint32_t first_token, uint8_t* levels) {
  constexpr int kGroups = kNoiseBlock / 4;
  uint32_t c0[kGroups], c1[kGroups], c2[kGroups], c3[kGroups];
  for (int i = 0; i < kGroups; ++i) {
    const PhiloxWords start = noise_counter(key, (first_token >> 2) + static_cast<uint32_t>(i), 0);
    c0[i] = start.word[0], c1[i] = start.word[1], c2[i] = start.word[2], c3[i] = start.word[3];
  }
  auto k0 = static_cast<uint32_t>(key.seed), k1 = static_cast<uint32_t>(key.seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (int i = 0; i < kGroups; ++i) {
      const uint64_t p0 = uint64_t{kPhiloxMultiplier0} * c0[i], p2 = uint64_t{kPhiloxMultiplier2} * c2[i];
      c0[i] = static_cast<uint32_t>(p2 >> 32) ^ c1[i] ^ k0;
      c2[i] = static_cast<uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c1[i] = static_cast<uint32_t>(p2);
      c3[i] = static_cast<uint32_t>(p0);
    }
    k0 += kPhiloxWeyl0;
    k1 += kPhiloxWeyl1;
  }
  for (int i = 0; i < kGroups; ++i) {
    levels[4 * i] = noise_level(c0[i]);
    levels[4 * i + 1] = noise_level(c1[i]);
    levels[4 * i + 2] = noise_level(c2[i]);
    levels[4 * i + 3] = noise_level(c3[i]);
  }
}

}  // namespace slipstream
