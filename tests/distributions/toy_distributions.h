// A target and a draft model over a few tokens. Their distributions depend on the whole prefix;
// a Temper says how the two relate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "common/speculation/rejection/accept.h"
#include "common/speculation/rejection/draft_tree.h"
#include "common/speculation/rejection/token_distribution.h"

namespace slipstream {

using Prefix = std::vector<TokenId>;

enum class Temper : uint8_t { random, equal, disjoint, certain, rare, close };
inline constexpr Temper kTempers[] = {Temper::random,  Temper::equal, Temper::disjoint,
                                      Temper::certain, Temper::rare,  Temper::close};

class ToyDistributions {
 public:
  ToyDistributions(int vocabulary, uint64_t seed, Temper temper) : vocabulary_(vocabulary), seed_(seed), temper_(temper) {}

  int vocabulary() const { return vocabulary_; }
  const OwnedDistribution& target(const Prefix& prefix) const { return of(prefix).target; }
  const OwnedDistribution& draft(const Prefix& prefix) const { return of(prefix).draft; }
  double p(const Prefix& prefix, TokenId token) const { return target(prefix).view().probability(token); }
  double q(const Prefix& prefix, TokenId token) const { return draft(prefix).view().probability(token); }

 private:
  struct Pair {
    OwnedDistribution target, draft;
  };

  const Pair& of(const Prefix& prefix) const {
    const auto [at, fresh] = known_.try_emplace(prefix);
    if (fresh) at->second = make(prefix);
    return at->second;
  }
  Pair make(const Prefix& prefix) const {
    uint64_t state = seed_;
    for (const TokenId token : prefix) state = mix(state + static_cast<uint64_t>(token) + 1);
    const auto share = [&] {  // (0, 1]
      state = mix(state);
      return static_cast<double>(state >> 12 | 1) * 0x1p-52;
    };
    std::vector<double> p, q;
    for (int i = 0; i < vocabulary_; ++i) p.push_back(share());
    for (int i = 0; i < vocabulary_; ++i) q.push_back(share());
    const auto half = static_cast<size_t>(vocabulary_ / 2);
    if (temper_ == Temper::equal) p = q;
    if (temper_ == Temper::disjoint)
      std::fill_n(p.begin(), half, 0.0), std::fill(q.begin() + static_cast<std::ptrdiff_t>(half), q.end(), 0.0);
    if (temper_ == Temper::certain) std::fill(q.begin() + 1, q.end(), 0.0);
    if (temper_ == Temper::rare) p[0] *= 1e-9, q[half] *= 2e-4;
    if (temper_ == Temper::close) p = q, p[0] *= 1.001;
    OwnedDistribution coarse;
    for (TokenId i = 0; i < vocabulary_; ++i) coarse.add(i, static_cast<uint64_t>(q[static_cast<size_t>(i)] * 0x1p40));
    Pair pair;
    quantise(coarse.view(), kDraftDistributionTokensMax, pair.draft);
    if (temper_ == Temper::equal) pair.target = pair.draft;
    for (TokenId i = 0; i < vocabulary_ && temper_ != Temper::equal; ++i)
      pair.target.add(i, static_cast<uint64_t>(p[static_cast<size_t>(i)] * 0x1p44));
    return pair;
  }
  static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * 0x9E3779B97F4A7C15ull;
    return x ^ x >> 29;
  }

  int vocabulary_;
  uint64_t seed_;
  Temper temper_;
  mutable std::map<Prefix, Pair> known_;
};

// The distributions after the rows of a tree.
class ToyTargets final : public TargetDistributions {
 public:
  ToyTargets(const ToyDistributions& distributions, const TokenTree& tree) : distributions_(distributions), tree_(tree) {}
  TokenDistribution after(int row) override { return distributions_.target(prefix_of(tree_, row - 1)).view(); }

  static Prefix prefix_of(const TokenTree& tree, int32_t node) {
    Prefix prefix;
    for (; node != kRoot; node = tree.nodes()[static_cast<size_t>(node)].parent)
      prefix.push_back(tree.nodes()[static_cast<size_t>(node)].token);
    std::ranges::reverse(prefix);
    return prefix;
  }

 private:
  const ToyDistributions& distributions_;
  const TokenTree& tree_;
};

}  // namespace slipstream
