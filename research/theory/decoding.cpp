#include "research/theory/decoding.h"

#include <algorithm>
#include <limits>

#include "common/base/check.h"
#include "common/speculation/rejection/sampled_tree_builder.h"

namespace slipstream::theory {
namespace {

TokenId uniform_prompt(const ChainPair& pair, RandomSource& random) {
  return static_cast<TokenId>(random.pick(std::vector<double>(static_cast<size_t>(pair.vocabulary()), 1.0)));
}

// The target's distributions after the rows of a tree whose root follows token n, `root`.
class ChainTargets final : public TargetDistributions {
 public:
  ChainTargets(const ChainPair& pair, int n, TokenId root, const TokenTree& tree)
      : pair_(pair), n_(n), root_(root), tree_(tree) {}

  TokenDistribution after(int row) override {
    const int node = row - 1;
    if (node == kRoot) return at(n_ + 1, root_);
    return at(n_ + tree_.depth(node) + 1, tree_.nodes()[static_cast<size_t>(node)].token);
  }

 private:
  // Beyond the horizon only the bonus token after a whole path is asked for, and no caller uses it.
  TokenDistribution at(int n, TokenId before) const { return pair_.target(std::min(n, pair_.horizon()), before); }

  const ChainPair& pair_;
  int n_;
  TokenId root_;
  const TokenTree& tree_;
};

// Drafts a tree after token n, `root`. Calls after_level(newest node, token before it) after each
// level; growth ends when that returns false.
template <class Level>
DraftTree draw(const ChainPair& pair, int n, TokenId root, const SampledShape& shape, RandomSource& random, Level after_level) {
  SampledTreeBuilder growth(shape);
  std::vector<TokenDistribution> distributions;
  while (!growth.frontier().empty()) {
    distributions.clear();
    for (const SampledTreeBuilder::Row& row : growth.frontier()) {
      distributions.push_back(pair.draft(n + row.depth + 1, row.depth == 0 ? root : row.token));
    }
    const TokenId before = growth.frontier().back().depth == 0 ? root : growth.frontier().back().token;
    growth.add(distributions, random);
    if (!growth.frontier().empty() && !after_level(growth.frontier().back(), before)) growth.stop();
  }
  return growth.tree();
}

SampledShape chain_of(int nodes, double threshold = 1) {
  return {.stop = {.nodes_max = nodes, .depth_max = nodes, .threshold = static_cast<float>(threshold)}};
}

void count_round(const Walk& walk, int candidates, CountedAnswer& answer) {
  answer.tokens.insert(answer.tokens.end(), walk.emitted.begin(), walk.emitted.end());
  answer.passes += {.tokens = static_cast<double>(walk.emitted.size()),
                    .drafted = static_cast<double>(candidates),
                    .verified = 1,
                    .discarded = candidates - static_cast<double>(walk.accepted.size())};
}

}  // namespace

Verify by_ratio() {
  return [](const DraftTree& sampled, TargetDistributions& target, RandomSource& random, AcceptScratch& scratch) {
    return BiasedWalk{accept_ratio(sampled, target, random, scratch), {}};
  };
}

Verify by_traversal() {
  return [](const DraftTree& sampled, TargetDistributions& target, RandomSource& random, AcceptScratch& scratch) {
    return BiasedWalk{accept_traversal(sampled, target, random, scratch), {}};
  };
}

Verify by_bias(const Bias& bias) {
  return [bias](const DraftTree& sampled, TargetDistributions& target, RandomSource& random, AcceptScratch&) {
    return accept_biased(sampled, bias, target, random);
  };
}

Answer decode_to_the_horizon(const ChainPair& pair, const Batch& batch, const Verify& verify, RandomPair& random) {
  Answer answer;
  AcceptScratch scratch;
  TokenId last = uniform_prompt(pair, random.drafts());
  bool rejected = true;  // a batch comes first and after each rejection
  for (int n = 0; n < pair.horizon(); n = static_cast<int>(answer.tokens.size())) {
    random.begin_round();
    const int deep = std::min(batch.ahead, pair.horizon() - n);
    const int drafts = rejected ? batch.drafts : 1;
    CHECK(drafts * deep <= kTreeNodesMax, "{} drafts of {} tokens are more than a tree holds", drafts, deep);
    const DraftTree tree = draw(
        pair, n, last,
        {.stop = {.nodes_max = drafts * deep, .depth_max = deep}, .root_children = drafts, .replacement = Replacement::with},
        random.drafts(), [](const SampledTreeBuilder::Row&, TokenId) { return true; });
    ChainTargets targets(pair, n, last, tree.tokens());
    const BiasedWalk biased = verify(tree, targets, random.accept(), scratch);
    const auto accepted = static_cast<int>(biased.walk.accepted.size());
    rejected = accepted < deep;
    const auto kept = static_cast<std::ptrdiff_t>(accepted + (rejected ? 1 : 0));
    answer.rejections += rejected ? 1 : 0;
    answer.tokens.insert(answer.tokens.end(), biased.walk.emitted.begin(), biased.walk.emitted.begin() + kept);
    for (const double spent : biased.spent) answer.spent += spent;  // the bonus token, which is dropped, spends nothing
    last = answer.tokens.back();
  }
  return answer;
}

namespace {

// Runs one round after token n, `last`: drafts candidates, then accepts or rejects them.
void decode_round(const ChainPair& pair, const LengthPolicy& policy, const Verify& verify, TokenId last, RandomPair& random,
                  CountedAnswer& answer, AcceptScratch& scratch) {
  random.begin_round();
  const auto n = static_cast<int>(answer.tokens.size());
  const int drafts = std::min(policy.length_max, pair.horizon() - n - 1);
  const double confidence = policy.stop == LengthPolicy::Stop::confidence ? policy.threshold : 1.0;
  double alive = 1;
  const auto goes_on = [&](const SampledTreeBuilder::Row& newest, TokenId before) {
    const TokenDistribution p = pair.target(n + newest.depth, before), q = pair.draft(n + newest.depth, before);
    // `alive` is the probability that the target accepts all candidates so far, which only a
    // perfect head knows.
    alive *= std::min(1.0, p.probability(newest.token) / q.probability(newest.token));
    return policy.stop != LengthPolicy::Stop::exact || 1 - alive <= policy.threshold;
  };
  const DraftTree tree = draw(pair, n, last, chain_of(drafts, confidence), random.drafts(), goes_on);
  ChainTargets targets(pair, n, last, tree.tokens());
  const Walk walk = verify(tree, targets, random.accept(), scratch).walk;
  count_round(walk, tree.size(), answer);
}

}  // namespace

CountedAnswer decode_in_rounds(const ChainPair& pair, const LengthPolicy& policy, const Verify& verify, RandomPair& random) {
  CountedAnswer answer;
  AcceptScratch scratch;
  for (TokenId last = uniform_prompt(pair, random.drafts()); static_cast<int>(answer.tokens.size()) < pair.horizon();) {
    decode_round(pair, policy, verify, last, random, answer, scratch);
    last = answer.tokens.back();
  }
  return answer;
}

int decode_one_round(const ChainPair& pair, const LengthPolicy& policy, const Verify& verify, RandomPair& random) {
  CountedAnswer answer;
  AcceptScratch scratch;
  decode_round(pair, policy, verify, uniform_prompt(pair, random.drafts()), random, answer, scratch);
  return static_cast<int>(answer.tokens.size());
}

namespace {

TokenId likeliest(Shares shares) { return static_cast<TokenId>(std::ranges::max_element(shares) - shares.begin()); }

// drafts_at(n): the largest number of candidates in the round after token n, before `rule` limits
// it by confidence.
template <class Length>
CountedAnswer greedy_rounds(const ChainPair& pair, TokenId prompt, const StopRule& rule, Length drafts_at) {
  CountedAnswer answer;
  TokenId last = prompt;
  for (int n = 0; n < pair.horizon(); n = static_cast<int>(answer.tokens.size())) {
    std::vector<TreeNode> nodes;
    std::vector<TokenId> sampled_tokens{likeliest(pair.p(n + 1, last))};
    const int most = std::min(drafts_at(n), pair.horizon() - n - 1);
    float survival = 1.0F;
    for (TokenId before = last; static_cast<int>(nodes.size()) < most;) {
      const auto drafted = static_cast<int>(nodes.size());
      if (!rule.admits(survival, drafted + 1, drafted)) break;
      const Shares q = pair.q(n + drafted + 1, before);
      before = likeliest(q);
      survival *= static_cast<float>(q[static_cast<size_t>(before)]);
      nodes.push_back({.token = before, .parent = drafted - 1, .survival = survival});
      sampled_tokens.push_back(likeliest(pair.p(n + drafted + 2, before)));
    }
    const auto tree = TokenTree::make(std::move(nodes), pair.vocabulary());
    CHECK(tree, "a greedy chain is no tree: {}", tree.error().message);
    count_round(walk(*tree, sampled_tokens), tree->size(), answer);
    last = answer.tokens.back();
  }
  return answer;
}

}  // namespace

CountedAnswer decode_greedily(const ChainPair& pair, TokenId prompt, const LengthPolicy& policy) {
  CHECK(policy.stop != LengthPolicy::Stop::exact, "greedy drafts are right or wrong: an exact head is the oracle");
  const double threshold = policy.stop == LengthPolicy::Stop::confidence ? policy.threshold : 1.0;
  const StopRule rule{
      .nodes_max = policy.length_max, .depth_max = policy.length_max, .threshold = static_cast<float>(threshold)};
  return greedy_rounds(pair, prompt, rule, [&](int) { return policy.length_max; });
}

CountedAnswer decode_greedily_by_oracle(const ChainPair& pair, TokenId prompt, const std::vector<int>& disagreements) {
  const StopRule unbounded{.nodes_max = kTreeNodesMax, .depth_max = kTreeDepthMax};
  return greedy_rounds(pair, prompt, unbounded, [&](int n) {
    const auto next = std::ranges::upper_bound(disagreements, n);
    return next == disagreements.end() ? std::numeric_limits<int>::max() : *next - n - 1;
  });
}

}  // namespace slipstream::theory
