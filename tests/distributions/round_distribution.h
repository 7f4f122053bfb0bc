// The distribution of what a round emits, by enumeration (every_outcome.h), compared with the
// target's own.
#pragma once

#include <cmath>
#include <functional>
#include <map>

#include "common/speculation/rejection/accept.h"
#include "tests/distributions/every_outcome.h"
#include "tests/distributions/toy_distributions.h"

namespace slipstream {

inline constexpr double kExact = 1e-12;

using Accept = std::function<Walk(const DraftTree&, TargetDistributions&, RandomSource&, AcceptScratch&)>;
using Draw = std::function<DraftTree(const ToyDistributions&, RandomSource&)>;

struct Outcome {
  std::map<Prefix, double> emitted;  // probability that a round emits exactly these tokens
  double accepted = 0;               // mean number of nodes a round
};

inline Outcome every_round(const ToyDistributions& distributions, const Draw& draw, const Accept& accept) {
  Outcome outcome;
  AcceptScratch scratch;
  Walk walk;
  EveryOutcome::of(
      [&](RandomSource& random) {
        const DraftTree sampled = draw(distributions, random);
        ToyTargets targets(distributions, sampled.tokens());
        walk = accept(sampled, targets, random, scratch);
      },
      [&](double probability) {
        outcome.emitted[walk.emitted] += probability;
        outcome.accepted += probability * static_cast<double>(walk.accepted.size());
      });
  return outcome;
}

// The largest difference between two distributions of the output's first `length` tokens: the
// target's own, and that of a round which emits the first of them and a target which samples the
// rest.
inline double bias(const ToyDistributions& distributions, const Outcome& outcome, size_t length) {
  std::map<Prefix, double> distribution;
  const std::function<void(Prefix&, double, std::map<Prefix, double>&)> go_on = [&](Prefix& prefix, double mass, auto& into) {
    if (prefix.size() == length) {
      into[prefix] += mass;
      return;
    }
    for (TokenId token = 0; token < distributions.vocabulary(); ++token) {
      const double p = distributions.p(prefix, token);
      if (p == 0) continue;
      prefix.push_back(token);
      go_on(prefix, mass * p, into);
      prefix.pop_back();
    }
  };
  for (const auto& [emitted, probability] : outcome.emitted) {
    Prefix prefix(emitted);
    go_on(prefix, probability, distribution);
  }
  std::map<Prefix, double> plain;
  Prefix empty;
  go_on(empty, 1.0, plain);
  double most = 0;
  for (const auto& [prefix, probability] : plain) most = std::max(most, std::abs(probability - distribution[prefix]));
  for (const auto& [prefix, probability] : distribution) most = std::max(most, std::abs(probability - plain[prefix]));
  return most;
}

// A tree of a given shape. The children of each node are sampled from its draft distribution.
// shape: [nodes] parents.
inline Draw of_shape(std::vector<int32_t> shape, Replacement replacement) {
  return [shape = std::move(shape), replacement](const ToyDistributions& distributions, RandomSource& random) {
    std::vector<TreeNode> nodes;
    std::vector<OwnedDistribution> sampled_from(1);
    std::vector<Prefix> prefix(1);
    std::vector<int32_t> place{kRoot};  // [nodes of the shape + 1] in the tree; -2: it could not be sampled
    for (const int32_t wanted : shape) {
      const int32_t parent = place[static_cast<size_t>(wanted + 1)];
      place.push_back(-2);
      if (parent == -2) continue;
      const auto row = static_cast<size_t>(parent + 1);
      const OwnedDistribution& distribution = distributions.draft(prefix[row]);
      std::vector<TokenId> taken;
      for (const TreeNode& node : nodes) {
        if (node.parent == parent && replacement == Replacement::without) taken.push_back(node.token);
      }
      std::ranges::sort(taken);
      if (taken.size() == distribution.ids.size()) continue;
      const TokenId token = random.draw(distribution.view(), taken);
      place.back() = static_cast<int32_t>(nodes.size());
      nodes.push_back(
          {.token = token, .parent = parent, .survival = parent == kRoot ? 1.0F : nodes[static_cast<size_t>(parent)].survival});
      sampled_from[row] = distribution;
      sampled_from.emplace_back();
      prefix.push_back(prefix[row]);
      prefix.back().push_back(token);
    }
    return DraftTree::make(std::move(nodes), std::move(sampled_from), replacement, distributions.vocabulary()).value();
  };
}

// All shapes of `nodes` nodes that are at most `depth` deep, parents before children. Two shapes
// that differ only in what stands below which sibling are different, because rules try siblings in
// their order.
inline std::vector<std::vector<int32_t>> shapes(int nodes, int depth) {
  std::vector<std::vector<int32_t>> all;
  const std::function<void(std::vector<int32_t>&, std::vector<int>&)> add = [&](auto& shape, auto& deep) {
    if (static_cast<int>(shape.size()) == nodes) {
      all.push_back(shape);
      return;
    }
    // Depth first, so that each shape comes once: the new node is a child of the newest one or of
    // one of its ancestors.
    for (auto parent = static_cast<int32_t>(shape.size()) - 1;; parent = shape[static_cast<size_t>(parent)]) {
      if (const int at = parent == kRoot ? 1 : deep[static_cast<size_t>(parent)] + 1; at <= depth) {
        shape.push_back(parent);
        deep.push_back(at);
        add(shape, deep);
        shape.pop_back();
        deep.pop_back();
      }
      if (parent == kRoot) break;
    }
  };
  std::vector<int32_t> shape;
  std::vector<int> deep;
  add(shape, deep);
  return all;
}

}  // namespace slipstream
