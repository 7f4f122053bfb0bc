#include "research/theory/chain_pair.h"

#include "common/base/check.h"
#include "kernels/exact/noise.h"

namespace slipstream::theory {
namespace {

std::vector<double> shares(const OwnedDistribution& distribution, int vocabulary) {
  std::vector<double> shares;
  for (TokenId token = 0; token < vocabulary; ++token) shares.push_back(distribution.view().probability(token));
  return shares;
}

double eighth_power(double x) { return (x * x) * (x * x) * ((x * x) * (x * x)); }

}  // namespace

ChainPair::Row ChainPair::make_row(OwnedDistribution target, OwnedDistribution draft, int vocabulary) {
  if (draft.total != kDraftDistributionTotal) {
    OwnedDistribution quantised;
    quantise(draft.view(), kDraftDistributionTokensMax, quantised);
    draft = std::move(quantised);
  }
  std::vector<double> p = shares(target, vocabulary), q = shares(draft, vocabulary);
  return {std::move(target), std::move(draft), std::move(p), std::move(q)};
}

ChainPair ChainPair::random(const Shape& shape, uint64_t seed) {
  CHECK(shape.vocabulary > 0 && shape.vocabulary <= static_cast<int>(kDraftDistributionTokensMax) && shape.horizon > 0,
        "no chains of {} tokens over a horizon of {}", shape.vocabulary, shape.horizon);
  ChainPair pair(shape.vocabulary, shape.horizon);
  for (uint32_t n = 0; n < static_cast<uint32_t>(shape.horizon); ++n) {
    for (uint32_t before = 0; before < static_cast<uint32_t>(shape.vocabulary); ++before) {
      const auto uniform = [&](uint32_t token, uint32_t what) {
        // Counter-based, so that a row does not depend on the order in which rows are made.
        const PhiloxWords words = philox({{token, before, n, what}}, seed);
        return noise_uniform(words.word[0], words.word[1]);
      };
      const bool hard = uniform(0, 2) < shape.hard;
      OwnedDistribution target, draft;
      for (uint32_t token = 0; token < static_cast<uint32_t>(shape.vocabulary); ++token) {
        const double first = uniform(token, 0), second = uniform(token, 1);
        const double p = hard ? first : eighth_power(first);
        const double q = hard ? second : p * (0.7 + 0.6 * second);
        // The 1 keeps every weight positive: ratios p / q are then defined everywhere.
        target.add(static_cast<TokenId>(token), static_cast<uint64_t>(p * 0x1p44) + 1);
        draft.add(static_cast<TokenId>(token), static_cast<uint64_t>(q * 0x1p40) + 1);
      }
      pair.rows_.push_back(make_row(std::move(target), std::move(draft), shape.vocabulary));
    }
  }
  return pair;
}

ChainPair ChainPair::constant(const OwnedDistribution& target, const OwnedDistribution& draft, int horizon) {
  CHECK(!target.ids.empty() && !draft.ids.empty() && horizon > 0, "no chains without distributions, or over a horizon of {}",
        horizon);
  ChainPair pair(std::max(target.ids.back(), draft.ids.back()) + 1, horizon);
  pair.rows_.push_back(make_row(target, draft, pair.vocabulary_));
  return pair;
}

const ChainPair::Row& ChainPair::row(int n, TokenId before) const {
  CHECK(n >= 1 && n <= horizon_ && before >= 0 && before < vocabulary_, "no token {} after {} over a horizon of {}", n, before,
        horizon_);
  return rows_.size() == 1 ? rows_[0] : rows_[static_cast<size_t>((n - 1) * vocabulary_ + before)];
}

}  // namespace slipstream::theory
