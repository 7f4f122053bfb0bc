#include "common/drafting/ngram.h"

#include <algorithm>

namespace slipstream {
namespace {

// The look-up gives as many tokens as the rule allows; survivals fall along the chain, so the
// threshold cuts its end.
TokenTree look_up(const NgramIndex& index, const StopRule& rule) {
  const int tokens_max = std::min(rule.nodes_max, rule.depth_max);
  const NgramIndex::Match match = tokens_max > 0 ? index.match(tokens_max) : NgramIndex::Match{};
  if (match.length == 0) return {};
  const float confidence = kNgramConfidence[static_cast<size_t>(match.length - kNgramMin)];
  float survival = 1.0F;
  int length = 0;
  for (; length < static_cast<int>(match.following.size()); ++length) {
    survival *= confidence;
    if (!rule.admits(survival, length + 1, length)) break;
  }
  return TokenTree::chain(std::span(match.following).first(static_cast<size_t>(length)), confidence);
}

}  // namespace

void NgramMethod::begin(const DraftKey& key, const GenerationSpec& spec) {
  sequences_[key] = {.index = {}, .sampled = is_sampled(spec.acceptance.rule)};
}

void NgramMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) { sequences_[key].index.append(tokens); }

Result<std::vector<Draft>> NgramMethod::draft(std::span<const DraftAsk> asks) {
  std::vector<Draft> trees;
  trees.reserve(asks.size());
  for (const DraftAsk& ask : asks) {
    const Sequence& sequence = sequences_[ask.key];
    const TokenTree tree = look_up(sequence.index, ask.rule);
    trees.push_back(sequence.sampled ? DraftTree::certain(tree) : DraftTree(tree));
  }
  return trees;
}

void NgramMethod::end(const DraftKey& key) { sequences_.erase(key); }

}  // namespace slipstream
