#include "common/sampling/residual.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

void Residual::begin(const Law& p, const Law& q, double reach) {
  law_ = p;
  support_ = q.ids;
  reach_ = reach;
  p_.clear();
  q_.clear();
  uint64_t outside = p.total;  // integers: what is left of a law that q covers nearly whole is exact, too
  for (size_t i = 0; i < support_.size(); ++i) {
    const uint64_t weight = p.weight(support_[i]);
    outside -= weight;
    p_.push_back(static_cast<double>(weight) / static_cast<double>(p.total));
    q_.push_back(static_cast<double>(q.weights[i]) / static_cast<double>(q.total));
  }
  rest_ = static_cast<double>(outside) / static_cast<double>(p.total);
}

size_t Residual::place(TokenId token) const {
  const auto at = std::ranges::lower_bound(support_, token);
  CHECK(at != support_.end() && *at == token, "token {} is no draft of this law", token);
  return static_cast<size_t>(at - support_.begin());
}

double Residual::ratio(TokenId token) const {
  const size_t at = place(token);
  return reach_ * p_[at] >= q_[at] ? 1.0 : reach_ * p_[at] / q_[at];
}

void Residual::refuse(TokenId token, Replacement replacement) {
  double sum = reach_ * rest_;
  for (size_t i = 0; i < p_.size(); ++i) sum += std::max(reach_ * p_[i] - q_[i], 0.0);
  if (sum > 0) {
    for (size_t i = 0; i < p_.size(); ++i) p_[i] = std::max(reach_ * p_[i] - q_[i], 0.0) / sum;
    rest_ = reach_ * rest_ / sum;
  }  // else reach * p equals q but for rounding, and a refusal is as unlikely as that
  reach_ = reach_ < 1.0 ? sum / (sum + (1.0 - reach_)) : 1.0;
  if (replacement == Replacement::with) return;
  q_[place(token)] = 0;
  double left = 0;
  for (const double q : q_) left += q;
  if (left > 0) {
    for (double& q : q_) q /= left;
  }
}

TokenId Residual::draw(Dice& dice) const {
  std::vector<double> weights(p_);
  weights.push_back(rest_);
  const size_t at = dice.pick(weights);
  return at < support_.size() ? support_[at] : dice.draw(law_, support_);
}

}  // namespace slipstream
