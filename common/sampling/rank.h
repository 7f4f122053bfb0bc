// The tokens that a target with logits near these would likely choose, by the noise that both share
// (docs/design/NOISE.md): how a drafter ranks its candidates. Their keys are those of
// sample_token.h over the drafter's own row q, so the first is what choose() gives: a drafter whose
// logits are the target's is always right.
//
// Confidence: if each of the target's logits differs from ours by Gumbel noise of scale 1 (mismatch
// of one nat), the target chooses v with probability softmax(temperature * key)_v, by the
// Gumbel-max trick; at temperature 0 that is softmax(logits), the confidence of SpecDec++
// (2405.19715) and EAGLE-2 (2406.16858). An estimate: it orders a tree and stops it, and can change
// no token.
#pragma once

#include <span>

#include "common/base/ids.h"
#include "common/sampling/sample_token.h"

namespace slipstream {

inline constexpr int kRankedMax = 16;  // of a row; above temperature 0 confidences are shares of what these sixteen have

struct Ranked {
  TokenId token = -1;
  float confidence = 0;  // [0, 1], falling; they sum to 1 at most
  bool operator==(const Ranked&) const = default;
};

// logits: [vocabulary], not empty. Fills the beginning of `out` (at most kRankedMax), most likely
// first, and returns how many: all that the processing chain keeps if those are fewer; 0 when the
// logits are not finite (chain.h).
size_t rank(std::span<const float> logits, const RowSampling& row, SamplingScratch& scratch, std::span<Ranked> out);

}  // namespace slipstream
