// Near-ties: rows whose token might be another one if their logits were rounded otherwise, as they
// are on devices where a row's bits depend on the other rows of its step (Device::row_invariant()).
// Words are the same with drafts and without up to these, and they are counted. Not counted is what
// the border of a filter keeps out (of top-k 1 every second token), which rounding may move as
// well.
#pragma once

#include <cmath>
#include <span>

#include "common/sampling/rank.h"

namespace slipstream {

// Whether the second candidate of a row is at most `nats` of a logit behind the first.
//
// candidates: the two best of rank(). Their confidences are in the ratio exp(T (key1 - key2)), at
// temperature 0 exp(logit1 - logit2): so many nats as one logit would have to rise.
inline bool near_tie(std::span<const Ranked, 2> candidates, float nats) {
  const Ranked &first = candidates[0], &second = candidates[1];
  return second.token >= 0 && second.confidence >= first.confidence * std::exp(-nats);
}

}  // namespace slipstream
