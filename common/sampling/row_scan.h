// One pass over a row of logits: is it usable, how high does it go, and where could its winner be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slipstream {

inline constexpr int kScanBlock = 64;  // tokens

struct RowScan {
  float highest = 0;    // of the bounds: without levels, the highest scaled logit
  bool finite = false;  // no NaN, no +inf, and at least one token that is not masked (-inf)
};

// What a temperature makes of a logit: logit * scale_of(temperature), rounded to float once.
inline float scale_of(float temperature) { return 1.0F / temperature; }

// bounds: [blocks of 64 tokens] gets max over the block of logit * scale + level * kNoiseLevelNats (noise.h); each term is
// within 1 float ulp. levels: [blocks * 64], or null for none. logits: not empty.
RowScan scan_row(std::span<const float> logits, float scale, const uint8_t* levels, std::vector<float>& bounds);

}  // namespace slipstream
