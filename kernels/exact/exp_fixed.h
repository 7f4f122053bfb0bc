// The fixed-point exponential: round(exp(x) * 2^44) for x <= 0, an integer, so that probabilities
// can be added in any order. It uses IEEE + - * only, so scalar, vector and GPU code give the same
// bits (docs/design/NOISE.md, section 6).
#pragma once

#include <bit>
#include <cstdint>

namespace slipstream {

inline constexpr double kExpFixedOne = 0x1p44;  // exp(0); a sum of 2^18 such terms fits 62 bits

// Within 2 of the exact value; 0 below about -31.2. REQUIRES (unchecked): x <= 0; -inf is allowed.
//
//   1. exp(x) = 2^k exp(r), k = round(x / ln 2), r = x - k ln 2, with ln 2 in two parts so that k ln 2 is exact
//   2. exp(r) by its Taylor polynomial of degree 12
//   3. 2^k is added to the exponent bits of the polynomial
//   4. adding 2^52 rounds the scaled result to an integer, which the low bits of the sum then hold
[[gnu::always_inline]] constexpr uint64_t exp_fixed(double x) {
  constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, which the low bits then hold
  x = x > -40.0 ? x : -40.0;
  const double shifted = x * 0x1.71547652B82FEp+0 + kRound;  // x / ln 2
  const double k = shifted - kRound;
  const double r = (x - k * 0x1.62E42FEEp-1) - k * 0x1.A39EF35793C76p-33;  // |r| <= ln 2 / 2
  double sum = 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const double power = std::bit_cast<double>(std::bit_cast<uint64_t>(sum) + (std::bit_cast<uint64_t>(shifted) << 52));
  return std::bit_cast<uint64_t>(power * kExpFixedOne + 0x1p52) - std::bit_cast<uint64_t>(0x1p52);
}

}  // namespace slipstream
