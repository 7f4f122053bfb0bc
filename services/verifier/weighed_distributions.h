// The target's distributions after the rows of a rejection task's tree where the device weighs rows
// itself (RowWeigher): no row of logits comes to the host. On the compute thread.
#pragma once

#include <span>
#include <vector>

#include "common/model/row_weigher.h"
#include "common/speculation/rejection/accept.h"
#include "services/verifier/step_output.h"

namespace slipstream {

// Typical acceptance asks for the entropy of a whole distribution.
inline bool needs_whole_rows(const RejectionTask& task) { return task.acceptance.rule == Rule::typical; }

// The rows of all tasks of a step that do not need whole rows, in their order, and their weights:
// of the tokens that each row's children were sampled from.
struct WeighedRows {
  std::vector<RowTokens> rows;
  RowWeights weights;
};
// Error: the device's.
Result<WeighedRows> weigh(RowWeigher& weigher, const Step& step, std::span<const RejectionTask> tasks);

class WeighedDistributions final : public TargetDistributions {
 public:
  // first: index in `weighed` of the task's root. REQUIRES: `weighed` is what the weigher had
  // last, and outlives this.
  WeighedDistributions(RowWeigher& weigher, const WeighedRows& weighed, size_t first, const RejectionTask& task);

  TokenDistribution after(int row) override;  // never asked for: no rule is here that needs_whole_rows()
  TokenDistribution weights_of(int row, std::span<const TokenId> tokens) override;
  const Result<void>& status() const { return status_; }  // an error of the device, after which the walk is worth nothing

 private:
  class Unlisted final : public UnlistedTokens {
   public:
    Unlisted(WeighedDistributions& all, size_t row) : all_(all), row_(row) {}
    TokenId at(uint64_t mark, std::span<const TokenId> without) const override;

   private:
    WeighedDistributions& all_;
    size_t row_;  // in WeighedRows
  };

  RowWeigher& weigher_;
  const WeighedRows& weighed_;
  size_t first_;
  std::vector<size_t> first_weight_;  // [rows of the task]
  std::vector<Unlisted> unlisted_;    // [rows of the task]
  Result<void> status_;
};

}  // namespace slipstream
