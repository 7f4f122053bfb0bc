#include "common/speculation/rejection/accept_biased.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace slipstream {
namespace {

// One position: the target's distribution beside the one that the rule emits when drafts come from
// q.
class Position {
 public:
  Position(const Bias& bias, const TokenDistribution& p, const TokenDistribution& q) : bias_(bias), whole_(p), support_(q.ids) {
    if (bias.kind == Bias::Kind::typical) entropy_ = entropy(p);
    uint64_t outside = p.total;
    for (size_t i = 0; i < q.ids.size(); ++i) {
      const uint64_t weight = p.weight(q.ids[i]);
      outside -= weight;
      p_.push_back(static_cast<double>(weight) / static_cast<double>(p.total));
      const double q_i = static_cast<double>(q.weights[i]) / static_cast<double>(q.total);
      accepted_.push_back(acceptance(bias, p_.back(), q_i, entropy_) * q_i);
      rejected_ -= accepted_.back();
    }
    rejected_ = std::max(rejected_, 0.0);
    outside_ = static_cast<double>(outside) / static_cast<double>(p.total);
  }

  double chance(TokenId token, const TokenDistribution& q) const {
    return acceptance(bias_, whole_.probability(token), q.probability(token), entropy_);
  }

  // TV(emitted, p). With P = residual, the emitted distribution exceeds p only where b q > p, so
  // the variation is the sum of (b q - p)+. With P = p it is half the sum of |b q + (1 - sum b q) p
  // - p|, over the support and outside it.
  double spent() const {
    double apart = 0;
    for (size_t i = 0; i < p_.size(); ++i) {
      apart += residual() ? std::max(accepted_[i] - p_[i], 0.0) : std::abs(accepted_[i] + rejected_ * p_[i] - p_[i]) / 2;
    }
    return residual() ? apart : apart + (1 - rejected_) * outside_ / 2;
  }

  TokenId draw_rejected(RandomSource& random) const {
    if (!residual()) return random.draw(whole_);
    std::vector<double> weights;
    for (size_t i = 0; i < p_.size(); ++i) weights.push_back(std::max(p_[i] - accepted_[i], 0.0));
    weights.push_back(outside_);
    if (std::ranges::none_of(weights, [](double weight) { return weight > 0; }))
      return random.draw(whole_);  // all of it is rounding error
    const size_t at = random.pick(weights);
    return at < support_.size() ? support_[at] : random.draw(whole_, support_);
  }

 private:
  bool residual() const { return bias_.kind == Bias::Kind::lenience || bias_.kind == Bias::Kind::pareto; }

  const Bias& bias_;
  TokenDistribution whole_;
  std::span<const TokenId> support_;
  std::vector<double> p_, accepted_;  // [support] p, and b q
  double rejected_ = 1.0;             // 1 - sum b q
  double outside_ = 0;                // p outside the support
  double entropy_ = 0;
};

}  // namespace

Result<void> validate(const Bias& bias) {
  const bool leans = bias.kind == Bias::Kind::lenience;
  if (leans && !(bias.strength > 0 && bias.strength <= 1)) {
    return fail("lenience is {}: give a number above 0 and at most 1 (no bias)", bias.strength);
  }
  if (!leans && !(bias.strength >= 0 && bias.strength <= 1)) {
    return fail("epsilon is {}: give a number from 0 to 1", bias.strength);
  }
  if (!(bias.delta >= 0 && bias.delta <= 1)) return fail("delta is {}: give a number from 0 to 1", bias.delta);
  return {};
}

double acceptance(const Bias& bias, double p, double q, double entropy) {
  const auto ratio = [q](double wanted) { return wanted >= q ? 1.0 : wanted / q; };
  switch (bias.kind) {
    case Bias::Kind::lenience:
      return ratio(p / bias.strength);
    case Bias::Kind::pareto:
    case Bias::Kind::uniform:
      return ratio(p + bias.strength);
    case Bias::Kind::typical:
      return p > std::min(bias.strength, bias.delta * std::exp(-entropy)) ? 1.0 : 0.0;
  }
  return 0;
}

double spent(const Bias& bias, const TokenDistribution& p, const TokenDistribution& q) { return Position(bias, p, q).spent(); }

// In a chain node i is the child of node i - 1, so the walk counts nodes instead of looking for
// children.
BiasedWalk accept_biased(const DraftTree& tree, const Bias& bias, TargetDistributions& target, RandomSource& random) {
  BiasedWalk biased;
  Walk& walk = biased.walk;
  for (int32_t at = kRoot;; ++at) {
    const TokenDistribution q = tree.distribution(at + 1);
    const bool whole = bias.kind == Bias::Kind::typical;  // its entropy is asked for
    const TokenDistribution p = whole ? target.after(at + 1) : target.weights_of(at + 1, q.ids);
    if (p.empty() || at + 1 == tree.size()) {
      walk.emitted.push_back(p.empty() ? -1 : random.draw(p));
      biased.spent.push_back(0);
      return biased;
    }
    const TreeNode& draft = tree.nodes()[static_cast<size_t>(at + 1)];
    CHECK(draft.parent == at, "a rule with a declared bias takes chains, and node {} is a child of {}", at + 1, draft.parent);
    const Position position(bias, p, q);
    biased.spent.push_back(position.spent());
    if (!random.accept(position.chance(draft.token, q))) {
      walk.emitted.push_back(position.draw_rejected(random));
      return biased;
    }
    walk.accepted.push_back(at + 1);
    walk.emitted.push_back(draft.token);
  }
}

}  // namespace slipstream
