// The tokens of a row that reach a scaled logit, side by side. Private to common/sampling.
#pragma once

#include <cstddef>
#include <span>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr size_t kListRoom = 16;  // written behind the last one listed

// Fills ids (ascending) and scaled, which have room for all logits and kListRoom more, with the tokens that are not masked and
// whose logit * scale is at least `floor`; returns how many. block_max: [blocks of 64] the highest of each (row_scan.h).
size_t list_tokens(std::span<const float> logits, float scale, float floor, std::span<const float> block_max, TokenId* ids,
                   float* scaled);

}  // namespace slipstream
