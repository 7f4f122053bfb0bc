#include "research/theory/round_length.h"

#include <algorithm>

namespace slipstream::theory {
namespace {

// Expected accepted drafts from position n on. reach: p_(i-1) of the header, the probability that
// the path so far is kept.
double accepted_of_block(const ChainPair& pair, int n, TokenId before, int drafts, double reach) {
  if (drafts == 0) return 0;
  double mean = 0;
  const Shares p = pair.p(n, before), q = pair.q(n, before);
  for (size_t x = 0; x < p.size(); ++x) {
    if (q[x] == 0) continue;
    const double next = std::min(reach * p[x] / q[x], 1.0);
    mean += q[x] * (next + accepted_of_block(pair, n + 1, static_cast<TokenId>(x), drafts - 1, next));
  }
  return mean;
}

}  // namespace

double expected_round_by_ratio(const ChainPair& pair, int drafts) {
  const auto tokens = static_cast<size_t>(pair.vocabulary());
  std::vector<double> alive(tokens, 1.0 / static_cast<double>(tokens));
  double mean = 1;
  for (int n = 1; n <= drafts; ++n) {
    std::vector<double> next(tokens, 0.0);
    for (TokenId before = 0; before < pair.vocabulary(); ++before) {
      const Shares p = pair.p(n, before), q = pair.q(n, before);
      for (size_t x = 0; x < tokens; ++x) next[x] += alive[static_cast<size_t>(before)] * std::min(p[x], q[x]);
    }
    alive = std::move(next);
    for (const double mass : alive) mean += mass;
  }
  return mean;
}

double expected_round_by_block(const ChainPair& pair, int drafts) {
  double mean = 0;
  for (TokenId prompt = 0; prompt < pair.vocabulary(); ++prompt) {
    mean += accepted_of_block(pair, 1, prompt, drafts, 1.0);
  }
  return 1 + mean / pair.vocabulary();
}

}  // namespace slipstream::theory
