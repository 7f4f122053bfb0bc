// The fixed-point exponential: exp(x) for x <= 0 as an integer, so that probabilities may be added
// in any order. It uses IEEE + - * only, so its bits are equal in scalar, vector and GPU code
// (docs/design/NOISE.md).
#pragma once

#include <bit>
#include <cstdint>

namespace slipstream {

inline constexpr double kExpFixedOne = 0x1p44;  // exp(0); 2^18 of them still fit 62 bits

// round(exp(x) * 2^44), within 2 of the exact value; 0 below about -31.2. Any x <= 0, -inf
// included.
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
