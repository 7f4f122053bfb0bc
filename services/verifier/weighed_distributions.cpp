#include "services/verifier/weighed_distributions.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

Result<WeighedRows> weigh(RowWeigher& weigher, const Step& step, std::span<const RejectionTask> tasks) {
  WeighedRows weighed;
  for (const RejectionTask& task : tasks) {
    if (needs_whole_rows(task)) continue;
    for (int row = 0; row <= task.tree.size(); ++row) {
      weighed.rows.push_back({.wanted = static_cast<int32_t>(task.first_wanted) + row,
                              .params = task.sampling,
                              .tokens = task.tree.distribution(row).ids});
    }
  }
  if (weighed.rows.empty()) return weighed;
  TRY(weighed.weights, weigher.weigh(step, weighed.rows));
  return weighed;
}

WeighedDistributions::WeighedDistributions(RowWeigher& weigher, const WeighedRows& weighed, size_t first,
                                           const RejectionTask& task)
    : weigher_(weigher), weighed_(weighed), first_(first) {
  size_t at = 0;
  for (size_t row = 0; row < first; ++row) at += weighed.rows[row].tokens.size();
  for (size_t row = first; row <= first + static_cast<size_t>(task.tree.size()); ++row) {
    first_weight_.push_back(at);
    unlisted_.emplace_back(*this, row);
    at += weighed.rows[row].tokens.size();
  }
}

TokenDistribution WeighedDistributions::after(int row) {
  CHECK(false, "a whole distribution is asked for after row {}, and its weights alone are known", row);
  return {};
}

TokenDistribution WeighedDistributions::weights_of(int row, std::span<const TokenId> tokens) {
  const auto at = static_cast<size_t>(row);
  CHECK(std::ranges::equal(tokens, weighed_.rows[first_ + at].tokens),
        "weights of other tokens than were asked for after row {}", row);
  return {.ids = tokens,
          .weights = std::span(weighed_.weights.weights).subspan(first_weight_[at], tokens.size()),
          .total = weighed_.weights.totals[first_ + at],
          .unlisted = &unlisted_[at]};
}

TokenId WeighedDistributions::Unlisted::at(uint64_t mark, std::span<const TokenId> without) const {
  const Result<TokenId> found = all_.weigher_.token_at(row_, mark, without);
  if (!found) all_.status_ = std::unexpected(found.error());
  return found.value_or(-1);
}

}  // namespace slipstream
