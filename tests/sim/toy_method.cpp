#include "tests/sim/toy_method.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "common/base/check.h"
#include "tests/unit/common/sampling/adjust.h"

namespace slipstream::sim {
namespace {

constexpr float kConfidence = 0.9F;
constexpr double kStillPrefills = 0.05;  // share of asks left unanswered, as by a method that still prefills

// [nodes + 1] the draft distribution of each row: uniform over its children.
std::vector<OwnedDistribution> even_distributions(const std::vector<TreeNode>& nodes) {
  std::vector<std::vector<TokenId>> children(nodes.size() + 1);
  for (const TreeNode& node : nodes) children[static_cast<size_t>(node.parent + 1)].push_back(node.token);
  std::vector<OwnedDistribution> distributions(children.size());
  for (size_t row = 0; row < distributions.size(); ++row) {
    std::ranges::sort(children[row]);
    for (const TokenId token : children[row]) distributions[row].add(token, kDraftDistributionTotal / children[row].size());
    CHECK(children[row].empty() || distributions[row].total == kDraftDistributionTotal, "{} children", children[row].size());
  }
  return distributions;
}

}  // namespace

void ToyMethod::see(const DraftKey& key, std::span<const uint16_t> features) {
  for (size_t at = 0; at < features.size(); at += kToyFeatureNumbers) {
    uint64_t feature = 0;
    for (size_t i = 0; i < kToyFeatureNumbers; ++i) feature |= uint64_t{features[at + i]} << 16 * i;
    sequences_.at(key).features.push_back(feature);
  }
}

void ToyMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  Held& held = sequences_.at(key);
  held.drafted.clear();
  const std::vector<uint64_t> features = std::exchange(held.features, {});
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!features.empty()) {
      ++features_;
      wrong_features_ += features.at(i) != held.context.hash();
    }
    held.add(tokens[i]);
  }
}

void ToyMethod::learn(const DraftKey& key, std::span<const TokenId> verdicts) {
  const Held& held = sequences_.at(key);
  if (verdicts.size() != held.drafted.size() + 1) return;  // on another tree
  std::vector<Held> after{held};                           // [verdicts] the sequence and the path to each row
  for (const TreeNode& node : held.drafted) {
    after.push_back(after[static_cast<size_t>(node.parent + 1)]);
    after.back().add(node.token);
  }
  const ToyDistribution target{.weights = distribution_.weights};
  std::array<float, kToyVocabulary> logits;
  for (size_t row = 0; row < verdicts.size(); ++row) {
    if (verdicts[row] == kNoVerdict) continue;
    target.logits(after[row].context.hash(), logits);
    adjust(after[row].logits_processor, logits);
    const TokenId choice = sample_token(logits, this->row(after[row]), scratch_);
    ++verdicts_;
    wrong_verdicts_ += choice != verdicts[row] || is_sampled(held.spec.acceptance.rule);
  }
}

void ToyMethod::Held::add(TokenId token) {
  context.add(token, length++);
  if (length <= spec.prompt_length) {
    logits_processor.add_prompt(std::span(&token, 1));
  } else {
    logits_processor.add_output(std::span(&token, 1));
  }
}

void ToyMethod::logits(const Held& held, std::span<float> out) const {
  ToyDistribution distribution = distribution_;
  if (held.spec.seed % 2 == 1) distribution.noise = odd_noise_.value_or(distribution.noise);
  distribution.logits(held.context.hash(), out);
  adjust(held.logits_processor, out);
}

Result<std::vector<Draft>> ToyMethod::draft(std::span<const DraftAsk> asks) {
  std::vector<Draft> trees;
  for (const DraftAsk& ask : asks) {
    if (random_.chance(kStillPrefills)) {
      trees.push_back(std::nullopt);
    } else {
      Held& held = sequences_.at(ask.key);
      DraftTree tree = grow(held, ask.rule);
      held.drafted.assign(tree.nodes().begin(), tree.nodes().end());
      trees.push_back(std::move(tree));
    }
  }
  return trees;
}

int ToyMethod::levels(const StopRule& rule) {
  int depth = 0;
  for (float survival = kConfidence; rule.admits(survival, depth + 1, depth); survival *= kConfidence) ++depth;
  return std::max(depth, 1);
}

RowSampling ToyMethod::row(const Held& held) const { return held.spec.row(held.length - held.spec.prompt_length); }

// Grows a chain. Some nodes get the runner-up as a sibling; for rules with sampled drafts both are
// equally likely.
DraftTree ToyMethod::grow(const Held& held, const StopRule& rule) {
  std::vector<TreeNode> nodes;
  std::array<float, kToyVocabulary> logits;
  Held at = held;
  int32_t parent = kRoot;
  float survival = kConfidence;
  for (int depth = 1; rule.admits(survival, depth, static_cast<int>(nodes.size())); ++depth, survival *= kConfidence) {
    this->logits(at, logits);
    const TokenId token = sample_token(logits, row(at), scratch_);
    const auto sampled_tokens = static_cast<int32_t>(nodes.size());
    nodes.push_back({token, parent, survival});
    const bool sibling = random_.chance(siblings_) && rule.admits(survival, depth, static_cast<int>(nodes.size()));
    if (sibling) {
      // The runner-up: what the same noise would choose without the first token.
      logits[static_cast<size_t>(token)] = -std::numeric_limits<float>::infinity();
      nodes.push_back({sample_token(logits, row(at), scratch_), parent, survival / 2});
    }
    at.add(token);
    parent = sampled_tokens;
  }
  if (is_sampled(held.spec.acceptance.rule)) {
    std::vector<OwnedDistribution> distributions = even_distributions(nodes);
    auto sampled = DraftTree::make(std::move(nodes), std::move(distributions), Replacement::without, kToyVocabulary);
    CHECK(sampled.has_value(), "a toy tree is no tree: {}", sampled.error().message);
    return *std::move(sampled);
  }
  Result<TokenTree> tree = TokenTree::make(std::move(nodes), kToyVocabulary);
  CHECK(tree.has_value(), "a toy tree is no tree: {}", tree.error().message);
  return DraftTree(*std::move(tree));
}

std::vector<TokenId> ToyMethod::foresee(const DraftKey& key, int tokens) {
  const auto held = sequences_.find(key);
  if (held == sequences_.end()) return {};
  std::vector<TokenId> seen;
  std::array<float, kToyVocabulary> logits;
  for (Held at = held->second; static_cast<int>(seen.size()) < tokens;) {
    this->logits(at, logits);
    seen.push_back(sample_token(logits, row(at), scratch_));
    at.add(seen.back());
  }
  return seen;
}

}  // namespace slipstream::sim
