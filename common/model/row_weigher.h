// The distributions after rows of a step as the exact weights of the sampling chain
// (sampling/chain.h), behind the rows' edits, on a device whose logits are not in host memory: for
// rules that accept drafts by their probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/model/ops.h"
#include "common/sampling/params.h"

namespace slipstream {

// A wanted row, how its sequence is sampled, and the tokens (ascending) whose weights are asked
// for.
struct RowTokens {
  int32_t wanted = 0;
  SamplingParams params;
  std::span<const TokenId> tokens;
};
struct RowWeights {
  std::vector<uint64_t> totals;   // [rows] of all tokens; 0: the row is refused
  std::vector<uint64_t> weights;  // of the rows' tokens, one row behind the other
};

class RowWeigher {
 public:
  // Weighs rows of the last step that ran, which chose tokens from their logits. The step's own
  // params are passed over. Error: the device's. REQUIRES: that is the step; temperatures are above
  // 0; tokens of a row: at most kDraftDistributionTokensMax.
  virtual Result<RowWeights> weigh(const Step& step, std::span<const RowTokens> rows) = 0;
  // Of the i-th row that weigh() had last: the token on whose weight `mark` lies where the weights
  // stand side by side in the order of their tokens, but for those of `without` (ascending, at most
  // kDraftDistributionTokensMax). REQUIRES: mark is below their sum.
  virtual Result<TokenId> token_at(size_t i, uint64_t mark, std::span<const TokenId> without) = 0;

 protected:
  ~RowWeigher() = default;
};

}  // namespace slipstream
