#include "common/drafting/ngram.h"

#include <algorithm>

#include "common/speculation/tree_growth.h"

namespace slipstream {
namespace {

// The tokens from the root's first child down to this row.
std::vector<TokenId> path_to(std::span<const TreeRow> rows, const TreeRow& row) {
  std::vector<TokenId> path;
  for (const TreeRow* at = &row; at->parent >= 0; at = &rows[static_cast<size_t>(at->parent)]) path.push_back(at->token);
  std::ranges::reverse(path);
  return path;
}

TokenTree grow(const NgramCounts& text, const StopRule& rule, size_t children_max) {
  TreeGrowth growth(rule);
  while (!growth.frontier().empty()) {
    std::vector<std::vector<Ranked>> guesses;
    for (const TreeRow& row : growth.frontier()) {
      guesses.push_back(text.guess(path_to(growth.rows(), row)));
      guesses.back().resize(std::min(guesses.back().size(), children_max));
    }
    const std::vector<std::span<const Ranked>> candidates(guesses.begin(), guesses.end());
    growth.add(candidates);
  }
  return growth.tree();
}

}  // namespace

void NgramMethod::begin(const DraftKey& key, const GenerationSpec& spec) {
  sequences_[key] = {.text = NgramCounts(), .sampled = is_sampled(spec.acceptance.rule)};
}

void NgramMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) { sequences_[key].text.append(tokens); }

Result<std::vector<Draft>> NgramMethod::draft(std::span<const DraftAsk> asks) {
  std::vector<Draft> trees;
  trees.reserve(asks.size());
  for (const DraftAsk& ask : asks) {
    const Sequence& sequence = sequences_[ask.key];
    const TokenTree tree = grow(sequence.text, ask.rule, sequence.sampled ? 1 : kGuessesMax);
    trees.push_back(sequence.sampled ? DraftTree::certain(tree) : DraftTree(tree));
  }
  return trees;
}

void NgramMethod::end(const DraftKey& key) { sequences_.erase(key); }

}  // namespace slipstream
