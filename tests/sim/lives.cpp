#include "tests/sim/lives.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/prefix_hash.h"
#include "common/speculation/rejection/accept.h"
#include "tests/sim/toy_grammar.h"

namespace slipstream::sim {
namespace {

TokenId another(TokenId token) { return (token + 1) % kToyVocabulary; }

// The target's distributions after the rows of a tree, each certain of the token that was sampled
// there. A sampled tree is then accepted exactly where plain decoding agrees with it.
class CertainDistributions final : public TargetDistributions {
 public:
  explicit CertainDistributions(std::span<const TokenId> sampled_tokens) {
    for (const TokenId token : sampled_tokens) distributions_.emplace_back().add(token, 1);
  }
  TokenDistribution after(int row) override { return distributions_[static_cast<size_t>(row)].view(); }

 private:
  std::vector<OwnedDistribution> distributions_;
};

}  // namespace

CostModel cost_model(const StepSpeed& speed) {
  const auto seconds = [](Time time) { return static_cast<double>(time.count()) * 1e-6; };
  StepTimes times;
  for (size_t i = 0; i < times.size(); ++i) {
    times[i] = seconds(speed.least + speed.most) / 2 + seconds(speed.row) * kCostRows[i];
  }
  return {times, {}};
}

StepOutput VerifyWork::draft(VerifyPlan& plan) {
  StepOutput output{.head = {.trees = {}, .passes = 1}, .forward_us = static_cast<uint32_t>(took_.count())};
  for (const HeadAsk& ask : plan.head_asks) {
    const TokenTree guessed = target_.guess(ask, head_noise_);
    const bool sampled = is_sampled(ask.acceptance.rule);
    output.head.trees.push_back(sampled ? DraftTree::certain(guessed) : DraftTree(guessed));
    head_trees_ += !output.head.trees.back().empty();
  }
  return output;
}

Result<StepOutput> VerifyWork::run(VerifyPlan& plan) {
  if (!plan.head_asks.empty()) return draft(plan);
  for (const RejectionTask& rejection_task : plan.rejection_tasks) {
    const auto rows =
        std::span(plan.step.sampling).subspan(rejection_task.first_wanted, static_cast<size_t>(rejection_task.tree.size()) + 1);
    // gather() plans greedy sampling for these rows, whose tokens it ignores. Sample them as plain
    // decoding would.
    for (RowSampling& row : rows) row.params = rejection_task.sampling;
  }
  const auto forward_us = static_cast<uint32_t>(took_.count());
  StepOutput output{.sampled_tokens = target_.run(plan.step.view()), .rejections = {}, .forward_us = forward_us};
  for (const LogprobRow& row : plan.step.logprobs) {
    output.logprobs.push_back({.logprob = target_.logprob(plan.step.wanted[static_cast<size_t>(row.wanted)]), .top = {}});
  }
  output.features = target_.features(plan.feature_slots);
  AcceptScratch scratch;
  for (const RejectionTask& rejection_task : plan.rejection_tasks) {
    sampled_trees_ += !rejection_task.tree.empty();
    CertainDistributions distributions(
        std::span(output.sampled_tokens)
            .subspan(rejection_task.first_wanted, static_cast<size_t>(rejection_task.tree.size()) + 1));
    CounterRandom random({rejection_task.seed, rejection_task.choice, rejection_task.epoch, rejection_task.round},
                         NoisePurpose::accept);
    const bool ratio = rejection_task.acceptance.rule == Rule::ratio;
    output.rejections.push_back({.walk = ratio ? accept_ratio(rejection_task.tree, distributions, random, scratch)
                                               : accept_traversal(rejection_task.tree, distributions, random, scratch)});
  }
  return output;
}

Time DraftWork::takes(const DraftPlan& plan) {
  int levels = 0;
  for (const DraftAsk& ask : plan.asks) levels = std::max(levels, ToyMethod::levels(ask.rule));
  return took_ = Time(random_.between(20, 1500)) + levels * level_;
}

Result<Drafts> DraftWork::run(DraftPlan& plan) {
  Result<Drafts> drafts = run_draft(method_, plan);
  if (drafts) drafts->draft_us = static_cast<uint32_t>(took_.count());  // as the drafter's page says it, in virtual time
  return drafts;
}

// Invariants after each event: every request has one state, and every Advance one outcome. A draft
// node that gets a second fate fails a CHECK (services/verifier/fates.h), and World::leftovers()
// finds one that is held at the end.

void ToClients::after(const RouterLife& life) {
  const RouterCounters& c = life.actor().counters();
  const uint64_t told =
      c.stopped + c.length + c.abandoned + c.failed + c.refused + c.rejected_full + c.overloaded + c.waited_too_long;
  if (c.submitted != told + c.waiting + c.live) {
    breach_(fmt::format("{}: {} requests came, {} ended, {} wait, {} live", life.name(), c.submitted, told, c.waiting, c.live));
  }
}

void WatchVerifier::takes(VerifierLife& life, CompileGrammar&& asked) {
  auto made = GrammarCache::compiled(toy_grammars(), asked.text);
  life.post_in(random_.between(Time{}, Time(200'000)), GrammarCompiled{std::move(asked.text), std::move(made)});
}

void WatchVerifier::takes(VerifierLife& life, FollowGrammar&& asked) {
  life.post_in(random_.between(Time{}, Time(20'000)), GrammarFollowed{asked.sequence, asked.guide.follow(asked.tokens)});
}

void WatchVerifier::after(const VerifierLife& life) {
  const VerifierCounters& c = life.actor().counters();
  if (c.live > static_cast<uint64_t>(sequences_max_)) breach_(fmt::format("{}: {} sequences", life.name(), c.live));
}

void Misbehaviour::after(const DrafterLife& life) {
  const DrafterCounters& c = life.actor().counters();
  const uint64_t became = c.applied + c.stale + c.resyncs + c.busy + c.leaving + c.invalid;
  if (c.advances != became) breach_(fmt::format("{}: {} Advances came, {} became something", life.name(), c.advances, became));
}

void Misbehaviour::sends(DrafterLife& life, To<Tree>& tree) {
  if (tree.message.nodes.empty()) return;
  if (traits_.runs_ahead && random_.chance(0.5)) run_ahead(life, tree);
  if (random_.chance(traits_.mischief)) traits_.misplaced ? misplace(tree.message) : spoil(tree.message);
}

// Guesses the next few tokens and sends the tree that follows them, for a later round. Sometimes
// the guess is wrong, and no sequence ever has the tree's base. Such a tree must never be verified.
// Its nodes are wrong, too, so that World::wrongly_verified() sees them rejected.
void Misbehaviour::run_ahead(DrafterLife& life, const To<Tree>& tree) {
  const auto steps = static_cast<size_t>(random_.between(1, 5));
  std::vector<TokenId> seen = life.work().method().foresee({tree.peer, tree.message.fence.sequence}, 9);
  if (seen.size() < 9) return;
  if (random_.chance(0.3)) {
    for (size_t i = steps - 1; i < seen.size(); ++i) seen[i] = another(seen[i]);
  }
  Tree ahead{.fence = tree.message.fence, .nodes = {}};
  PrefixHash hash(ahead.fence.prefix_hash);
  hash.add(std::span(seen).first(steps));
  ahead.fence.base_length += static_cast<int32_t>(steps);
  ahead.fence.prefix_hash = hash.value();
  ahead.fence.round += 1;
  float survival = 0.9F;
  for (size_t i = steps; i < seen.size(); ++i, survival *= 0.9F) {
    ahead.nodes.push_back({seen[i], static_cast<int32_t>(ahead.nodes.size()) - 1, survival});
  }
  life.say(tree.peer, ahead);
}

// Makes the tree invalid.
void Misbehaviour::spoil(Tree& tree) {
  switch (random_.between(0, 2)) {
    case 0:
      tree.nodes[0].token = kToyVocabulary;
      return;
    case 1:
      tree.nodes.back().parent = static_cast<int32_t>(tree.nodes.size());
      return;
    default:
      tree.nodes[0].survival = 2;
      return;
  }
}

// Makes the fence name another round, epoch, hash or base length. The tree must never be verified:
// its nodes are wrong, so that World::wrongly_verified() sees them rejected.
void Misbehaviour::misplace(Tree& tree) {
  for (TreeNode& node : tree.nodes) node.token = another(node.token);
  switch (random_.between(0, 4)) {
    case 0:
      tree.fence.prefix_hash ^= 1;
      return;
    case 1:
      tree.fence.round += 1;
      return;
    case 2:
      tree.fence.epoch += 1;
      return;
    case 3:
      tree.fence.base_length -= 1;
      return;
    default:
      tree.fence.base_length += static_cast<int32_t>(random_.between(1, 8));
      return;
  }
}

}  // namespace slipstream::sim
