#include "common/speculation/rejection/residual.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

void Residual::begin(const TokenDistribution& p, const TokenDistribution& q, double reach) {
  whole_ = p;
  support_ = q.ids;
  reach_ = reach;
  p_.clear();
  q_.clear();
  // In integers, so that what remains of a p that q covers almost wholly is exact, too.
  uint64_t outside = p.total;
  for (size_t i = 0; i < support_.size(); ++i) {
    const uint64_t weight = p.weight(support_[i]);
    outside -= weight;
    p_.push_back(static_cast<double>(weight) / static_cast<double>(p.total));
    q_.push_back(static_cast<double>(q.weights[i]) / static_cast<double>(q.total));
  }
  outside_ = static_cast<double>(outside) / static_cast<double>(p.total);
}

// The index of a token in the support.
size_t Residual::place(TokenId token) const {
  const auto at = std::ranges::lower_bound(support_, token);
  CHECK(at != support_.end() && *at == token, "the draft distribution cannot give token {}", token);
  return static_cast<size_t>(at - support_.begin());
}

// Compares before it divides, so that q = 0 needs no case of its own.
double Residual::acceptance(TokenId token) const {
  const size_t at = place(token);
  return reach_ * p_[at] >= q_[at] ? 1.0 : reach_ * p_[at] / q_[at];
}

// Outside the support q is 0, so p changes there by one common factor: outside_ stands for all of
// those tokens.
void Residual::reject(TokenId token, Replacement replacement) {
  double sum = reach_ * outside_;
  for (size_t i = 0; i < p_.size(); ++i) sum += std::max(reach_ * p_[i] - q_[i], 0.0);
  // If the sum is 0, r p equals q but for rounding. A rejection is then as unlikely as the rounding
  // error, and p stays.
  if (sum > 0) {
    for (size_t i = 0; i < p_.size(); ++i) p_[i] = std::max(reach_ * p_[i] - q_[i], 0.0) / sum;
    outside_ = reach_ * outside_ / sum;
  }
  reach_ = reach_ < 1.0 ? sum / (sum + (1.0 - reach_)) : 1.0;
  if (replacement == Replacement::with) return;
  q_[place(token)] = 0;
  double left = 0;
  for (const double q : q_) left += q;
  if (left > 0) {
    for (double& q : q_) q /= left;
  }
}

// First picks a token of the support or "outside", then, for "outside", a token of p that is not in
// the support.
TokenId Residual::draw(RandomSource& random) const {
  std::vector<double> weights(p_);
  weights.push_back(outside_);
  const size_t at = random.pick(weights);
  return at < support_.size() ? support_[at] : random.draw(whole_, support_);
}

}  // namespace slipstream
