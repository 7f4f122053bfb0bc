#include "research/theory/chain_rejections.h"

#include "research/theory/one_token.h"

namespace slipstream::theory {
namespace {

std::vector<double> uniform(const ChainPair& pair) {
  const auto tokens = static_cast<size_t>(pair.vocabulary());
  return std::vector<double>(tokens, 1.0 / static_cast<double>(tokens));
}

double rejection_of_batch(Shares p, Shares q, int batch) {
  return batch == kEndlessBatch ? endless_batch_rejection(p, q) : batch_rejection(p, q, batch);
}

// The mass of each token that is left to be sampled after a batch has been rejected.
std::vector<double> rejected_mass(Shares p, Shares q, int batch) {
  if (batch != kEndlessBatch) return unaccepted(p, q, batch);
  std::vector<double> mass(p.size());
  for (size_t x = 0; x < p.size(); ++x) mass[x] = q[x] > 0 ? 0 : p[x];
  return mass;
}

}  // namespace

double expected_rejections(const ChainPair& pair) { return expected_batch_rejections(pair, 1).plain; }

BatchRejections expected_batch_rejections(const ChainPair& pair, int batch) {
  BatchRejections sum;
  // Probabilities over the previous token x: all[x] that it is x; rejected[x] that it is x and came
  // from a rejection, after which a batch comes next. Both start uniform, since a batch also comes
  // first.
  std::vector<double> all = uniform(pair), rejected = all;
  for (int n = 1; n <= pair.horizon(); ++n) {
    std::vector<double> all_next(all.size(), 0.0), rejected_next(all.size(), 0.0);
    for (TokenId before = 0; before < pair.vocabulary(); ++before) {
      const auto from = static_cast<size_t>(before);
      const Shares p = pair.p(n, before), q = pair.q(n, before);
      const double plain = rejection(p, q);
      sum.plain += all[from] * plain;
      sum.improvement += rejected[from] * (plain - rejection_of_batch(p, q, batch));
      const std::vector<double> by_batch = rejected_mass(p, q, batch), by_one = unaccepted(p, q, 1);
      for (size_t x = 0; x < p.size(); ++x) {
        all_next[x] += all[from] * p[x];  // every batch size is unbiased
        rejected_next[x] += rejected[from] * by_batch[x] + (all[from] - rejected[from]) * by_one[x];
      }
    }
    all = std::move(all_next);
    rejected = std::move(rejected_next);
  }
  return sum;
}

BiasedChain expected_biased(const ChainPair& pair, const RuleOf& rule_of_position) {
  BiasedChain sum;
  std::vector<double> distribution = uniform(pair);
  for (int n = 1; n <= pair.horizon(); ++n) {
    std::vector<double> next(distribution.size(), 0.0);
    for (TokenId before = 0; before < pair.vocabulary(); ++before) {
      const double mass = distribution[static_cast<size_t>(before)];
      const Shares p = pair.p(n, before), q = pair.q(n, before);
      const RejectionRule rule = rule_of_position(p, q);
      sum.rejections += mass * rejection(rule, q);
      sum.spent += mass * bias(rule, p, q);
      sum.apart += mass * total_variation(p, q);
      const std::vector<double> out = emitted(rule, q);
      for (size_t x = 0; x < out.size(); ++x) next[x] += mass * out[x];
    }
    distribution = std::move(next);
  }
  return sum;
}

}  // namespace slipstream::theory
