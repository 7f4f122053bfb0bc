// The ratio family by enumeration: every sampled tree, every acceptance and every token after
// it. What is emitted has the target's distribution, to 1e-12, whatever the draft model is. The
// second half enumerates the pipeline too: what is sampled, trimmed and dropped.
#include <set>
#include <tuple>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "common/speculation/rejection/sampled_tree_builder.h"
#include "tests/distributions/round_distribution.h"

namespace slipstream {
namespace {

struct Rule {
  const char* name;
  Accept accept;
};
const Rule kRules[] = {{"ratio", accept_ratio}, {"traversal", accept_traversal}};

// Each shape runs under each rule, with and without replacement. Each shape takes the next temper.
class EveryShape {
 public:
  void expect_unbiased(int vocabulary, int nodes) {
    for (const auto& shape : shapes(nodes, 3)) {
      const Temper temper = kTempers[++seed_ % std::size(kTempers)];
      const ToyDistributions distributions(vocabulary, seed_, temper);
      for (const Rule& rule : kRules) {
        for (const Replacement replacement : {Replacement::with, Replacement::without}) {
          const Outcome outcome = every_round(distributions, of_shape(shape, replacement), rule.accept);
          EXPECT_LT(bias(distributions, outcome, 4), kExact)
              << fmt::format("{}, shape {}, {} tokens, replacement {}, temper {}, seed {}", rule.name, shape, vocabulary,
                             replacement == Replacement::with, static_cast<int>(temper), seed_);
          met_.emplace(rule.name, replacement, temper);
        }
      }
    }
  }
  size_t met() const { return met_.size(); }
  static constexpr size_t kAll = std::size(kRules) * 2 * std::size(kTempers);

 private:
  uint64_t seed_ = 0;
  std::set<std::tuple<const char*, Replacement, Temper>> met_;
};

TEST(RatioFamily, KeepsTheTargetsDistributionOnEveryShape) {
  EXPECT_EQ(shapes(3, 3).size(), 5u);
  EveryShape every;
  for (int vocabulary = 2; vocabulary <= 5; ++vocabulary) {
    for (int nodes = 0; nodes <= (vocabulary == 2 ? 6 : vocabulary == 3 ? 5 : 4); ++nodes) {
      every.expect_unbiased(vocabulary, nodes);
    }
  }
  EXPECT_EQ(every.met(), every.kAll) << "each rule meets each temper, with replacement and without";
}

TEST(RatioFamilyLong, KeepsTheTargetsDistributionOnEveryShapeOfSixNodesAndFiveTokens) {
  EveryShape every;
  for (int vocabulary = 3; vocabulary <= 5; ++vocabulary) {
    for (int nodes = 5; nodes <= 6; ++nodes) every.expect_unbiased(vocabulary, nodes);
  }
  EXPECT_EQ(every.met(), every.kAll);
}

// --- How many nodes are accepted, by formulas that share no code with the rules.

// The mean number of accepted nodes of a chain of `nodes`: each step keeps the mass that p and q
// share (2211.17192, Section 3).
double chain_by_theory(const ToyDistributions& distributions, Prefix prefix, int nodes) {
  if (nodes == 0) return 0;
  double mean = 0;
  for (TokenId token = 0; token < distributions.vocabulary(); ++token) {
    const double shared = std::min(distributions.p(prefix, token), distributions.q(prefix, token));
    prefix.push_back(token);
    if (shared > 0) mean += shared * (1 + chain_by_theory(distributions, prefix, nodes - 1));
    prefix.pop_back();
  }
  return mean;
}

// The same of block verification (2403.10444, Algorithm 2): node i, sampled from q, is accepted
// with probability p_i = min(p_(i-1) p / q, 1).
double block_by_theory(const ToyDistributions& distributions, Prefix prefix, int nodes, double reach) {
  if (nodes == 0) return 0;
  double mean = 0;
  for (TokenId token = 0; token < distributions.vocabulary(); ++token) {
    const double q = distributions.q(prefix, token);
    if (q == 0) continue;
    const double next = std::min(reach * distributions.p(prefix, token) / q, 1.0);
    prefix.push_back(token);
    mean += q * (next + block_by_theory(distributions, prefix, nodes - 1, next));
    prefix.pop_back();
  }
  return mean;
}

// The probability that one of `drafts` drafts from one q is accepted (2411.00841, Theorem 3). All
// are rejected with the product of the probabilities that each is.
double batch_by_theory(const ToyDistributions& distributions, int drafts) {
  std::vector<double> p;
  for (TokenId token = 0; token < distributions.vocabulary(); ++token) p.push_back(distributions.p({}, token));
  double refused = 1;
  for (int draft = 0; draft < drafts; ++draft) {
    double apart = 0;
    for (TokenId token = 0; token < distributions.vocabulary(); ++token)
      apart += std::max(p[static_cast<size_t>(token)] - distributions.q({}, token), 0.0);
    refused *= apart;
    if (apart == 0) break;
    for (TokenId token = 0; token < distributions.vocabulary(); ++token)
      p[static_cast<size_t>(token)] = std::max(p[static_cast<size_t>(token)] - distributions.q({}, token), 0.0) / apart;
  }
  return 1 - refused;
}

class AcceptedNodes : public testing::TestWithParam<Temper> {
 protected:
  const ToyDistributions distributions{4, 77, GetParam()};
};

TEST_P(AcceptedNodes, OfARatioChainAreWhatBothDistributionsShare) {
  const Outcome outcome = every_round(distributions, of_shape({kRoot, 0, 1}, Replacement::without), accept_ratio);
  EXPECT_NEAR(outcome.accepted, chain_by_theory(distributions, {}, 3), kExact);
}

TEST_P(AcceptedNodes, OfATraversedChainAreThoseOfBlockVerification) {
  const Outcome outcome = every_round(distributions, of_shape({kRoot, 0, 1}, Replacement::without), accept_traversal);
  EXPECT_NEAR(outcome.accepted, block_by_theory(distributions, {}, 3, 1.0), kExact);
  EXPECT_GE(outcome.accepted, chain_by_theory(distributions, {}, 3) - kExact);
}

TEST_P(AcceptedNodes, OfABatchAreAsTheorem3Says) {
  for (int drafts = 1; drafts <= 4; ++drafts) {
    const Draw draw = of_shape(std::vector<int32_t>(static_cast<size_t>(drafts), kRoot), Replacement::with);
    EXPECT_NEAR(every_round(distributions, draw, accept_ratio).accepted, batch_by_theory(distributions, drafts), kExact)
        << drafts;
  }
}

TEST_P(AcceptedNodes, OfAllTokensAsDistinctChildrenAreOneForSure) {
  const ToyDistributions three(3, 5, GetParam());
  const Draw draw = of_shape({kRoot, kRoot, kRoot}, Replacement::without);
  if (three.draft({}).ids.size() < 3) return;  // q cannot draw them all
  EXPECT_NEAR(every_round(three, draw, accept_ratio).accepted, 1, kExact);
}

INSTANTIATE_TEST_SUITE_P(Tempers, AcceptedNodes, testing::ValuesIn(kTempers));

// Traversal is never worse on chains, but it can be on trees. Enumerating the shapes of four nodes
// found this one.
TEST(Traversal, CanAcceptLessOfATreeThanTheRatioRule) {
  const ToyDistributions distributions(4, 77, Temper::rare);
  const Draw draw = of_shape({kRoot, 0, 0, 2}, Replacement::without);
  EXPECT_LT(every_round(distributions, draw, accept_traversal).accepted,
            every_round(distributions, draw, accept_ratio).accepted - 0.01);
}

// --- The pipeline: how trees are sampled, trimmed and dropped.

Draw grown(SampledShape shape, int kept) {
  return [shape, kept](const ToyDistributions& distributions, RandomSource& random) {
    SampledTreeBuilder growth(shape);
    std::vector<Prefix> prefix;
    while (!growth.frontier().empty()) {
      std::vector<TokenDistribution> after;
      for (const SampledTreeBuilder::Row& row : growth.frontier()) {
        prefix.push_back(row.parent < 0 ? Prefix{} : prefix[static_cast<size_t>(row.parent)]);
        if (row.parent >= 0) prefix.back().push_back(row.token);
      }
      for (size_t i = prefix.size() - growth.frontier().size(); i < prefix.size(); ++i)
        after.push_back(distributions.draft(prefix[i]).view());
      growth.add(after, random);
    }
    DraftTree sampled = growth.tree();
    sampled.trim(kept);
    return sampled;
  };
}

struct Size {
  int vocabulary;
  uint64_t seed;
  int nodes;
};

class DraftPipeline : public testing::TestWithParam<Temper> {
 protected:
  static constexpr Size kSizes[] = {{2, 40, 5}, {3, 41, 5}, {3, 42, 5}, {4, 43, 5}};

  void expect_unbiased(const Size& size, const Draw& draw, const std::string& what) {
    const ToyDistributions distributions(size.vocabulary, size.seed, GetParam());
    for (const Rule& rule : kRules) {
      EXPECT_LT(bias(distributions, every_round(distributions, draw, rule.accept), 4), kExact)
          << fmt::format("{}, {}, {} tokens", rule.name, what, size.vocabulary);
    }
  }

  void expect_every_shape_unbiased(const Size& size) {
    constexpr auto kRepeats = Replacement::with;
    for (const float threshold : {1.0F, 0.7F, 0.4F}) {
      for (int kept = 0; kept <= size.nodes; ++kept) {
        const StopRule stop{.nodes_max = size.nodes, .depth_max = 3, .threshold = threshold};
        const auto expect = [&](const char* what, const SampledShape& shape) {
          expect_unbiased(size, grown(shape, kept), fmt::format("{}, threshold {}, {} kept", what, threshold, kept));
        };
        expect("chain", {.stop = stop});
        expect("tree", {.stop = stop, .root_children = 2, .children = 2});
        expect("tree three levels deep", {.stop = stop, .root_children = 1, .children = 2});
        expect("tree of repeats", {.stop = stop, .root_children = 2, .children = 2, .replacement = kRepeats});
        expect("batch", {.stop = stop, .root_children = 3, .children = 1, .replacement = kRepeats});
      }
    }
  }
};

TEST_P(DraftPipeline, KeepsTheDistributionWithAStopRuleABudgetAndTrimming) {
  for (const Size& size : kSizes) expect_every_shape_unbiased(size);
}

using DraftPipelineLong = DraftPipeline;
TEST_P(DraftPipelineLong, KeepsTheDistributionOfFiveTokensWithSixNodes) { expect_every_shape_unbiased({5, 44, 6}); }

TEST_P(DraftPipeline, KeepsTheDistributionWhenARoundIsDeclaredPlainBeforeItIsSampled) {
  const Draw tree = grown({.stop = {.nodes_max = 4, .depth_max = 2}, .root_children = 2}, 4);
  for (const Size& size : kSizes) {
    expect_unbiased(
        size,
        [&](const ToyDistributions& of, RandomSource& random) { return random.accept(0.3) ? DraftTree() : tree(of, random); },
        "a plain round");
  }
}

INSTANTIATE_TEST_SUITE_P(Tempers, DraftPipeline, testing::ValuesIn(kTempers));
INSTANTIATE_TEST_SUITE_P(Tempers, DraftPipelineLong, testing::ValuesIn(kTempers));

// The example of adr/0008: p = (.6, .4), q = (.8, .2); the round is dropped when the unlikely token
// was sampled.
class Example {
 public:
  static double first_token(bool drop) {
    double mass = 0;
    TokenId token = -1;
    AcceptScratch scratch;
    OwnedDistribution p, q;
    p.add(0, 6), p.add(1, 4);
    q.add(0, 26214), q.add(1, 6554);  // of kDraftDistributionTotal
    EveryOutcome::of(
        [&](RandomSource& random) {
          struct One final : TargetDistributions {
            explicit One(const OwnedDistribution& distribution) : distribution(distribution) {}
            TokenDistribution after(int) override { return distribution.view(); }
            const OwnedDistribution& distribution;
          } target(p);
          const TokenId sampled = random.draw(q.view());
          const bool dropped = drop && sampled == 1;
          const auto tree =
              dropped ? DraftTree() : DraftTree::make({{sampled, kRoot, 1.0F}}, {q, {}}, Replacement::without, 2).value();
          token = accept_ratio(tree, target, random, scratch).emitted.front();
        },
        [&](double probability) { mass += token == 0 ? probability : 0; });
    return mass;
  }
};

TEST(RatioFamily, IsBiasedByARoundThatIsDroppedForWhatWasSampledInIt) {
  EXPECT_NEAR(Example::first_token(false), 0.6, kExact);
  EXPECT_NEAR(Example::first_token(true), 0.72, 1e-5) << "the harness must see it";
}

}  // namespace
}  // namespace slipstream
