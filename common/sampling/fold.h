// Joins the values of a block pair by pair, [0] with [n/2] and so on, so that each round is one vector operation. Each round
// has a width of its own at compile time: of one loop over widths compilers make branches. Private to common/sampling.
#pragma once

namespace slipstream {

// values: [kCount], a power of two, used up.
template <int kCount, class Join>
[[gnu::always_inline]] inline float fold(float* values, Join join) {
  if constexpr (kCount == 1) {
    return values[0];
  } else {
    for (int i = 0; i < kCount / 2; ++i) values[i] = join(values[i], values[i + kCount / 2]);
    return fold<kCount / 2>(values, join);
  }
}

}  // namespace slipstream
