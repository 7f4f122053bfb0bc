// Ranks the tokens that the target will likely sample, for a drafter. The drafter knows its own row
// of logits, not the target's, but it shares the target's noise (docs/design/NOISE.md):
//
//   key_v         = (double)s_v + gumbel_v     over the drafter's row, as in sample_token.h
//   confidence_v  = softmax(temperature * key)_v
//
// Candidates are ordered by key. The first is what sample_token() gives for the row, so a drafter
// whose logits equal the target's is always right.
//
// The confidence estimates the probability that the target samples v. It assumes that each of the
// target's logits differs from the drafter's by Gumbel noise of scale 1, a mismatch of one nat; the
// formula then follows by the Gumbel-max trick. At temperature 0 it is softmax(logits), as in
// SpecDec++ (2405.19715) and EAGLE-2 (2406.16858). Confidences order and stop the growth of a tree;
// they cannot change an emitted token.
#pragma once

#include <span>

#include "common/base/ids.h"
#include "common/sampling/sample_token.h"

namespace slipstream {

inline constexpr int kRankedMax = 16;  // candidates of a row; above temperature 0 the softmax runs over these sixteen

struct Ranked {
  TokenId token = -1;
  float confidence = 0;  // in [0, 1], falling from candidate to candidate; a row's sum is at most 1
  bool operator==(const Ranked&) const = default;
};

// What a drafter ranks by that was trained to the cross-entropy with its target, for a request with
// these params. Such a drafter gives a token the mean q of the chances p that the target may give
// it. The logarithm is concave, so log p is below log q in the mean, and the further the less is
// known of p, which is of unlikely tokens: under the noise that both share they win more often by q
// than by p. So its logits are divided by kSharpened of the temperature: of 0.5 to 1 the share by
// which most guesses of the demo's head are right (docs/lab/PERFORMANCE.md).
inline constexpr float kSharpened = 0.8F;
SamplingParams sharpened(SamplingParams params);

// Fills the first entries of `out` with the likeliest tokens of logits [vocabulary], the likeliest
// first, and returns how many it filled: out.size(), fewer if the chain keeps fewer tokens, 0 if
// the row is refused (chain.h). REQUIRES: out.size() <= kRankedMax; the row is not empty.
size_t rank(std::span<const float> logits, const RowSampling& row, SamplingScratch& scratch, std::span<Ranked> out);

// The same of a drafter's row that has logits of some tokens only (EAGLE-3's reduced vocabulary):
// what rank() gives of a row [vocabulary] with -infinity for all others. tokens: [logits], each
// once and below `vocabulary`; ascending, or of equal logits at the border of a filter those that
// come first are kept.
size_t rank(std::span<const float> logits, std::span<const TokenId> tokens, int vocabulary, const RowSampling& row,
            SamplingScratch& scratch, std::span<Ranked> out);

}  // namespace slipstream
