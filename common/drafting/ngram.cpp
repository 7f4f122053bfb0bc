#include "common/drafting/ngram.h"

#include <algorithm>

#include "common/speculation/ngram_guess.h"
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

TokenTree grow(const NgramCounts& own, const NgramSources& from, const StopRule& rule, size_t children_max) {
  TreeGrowth growth(rule);
  while (!growth.frontier().empty()) {
    std::vector<std::vector<Ranked>> guesses;
    for (const TreeRow& row : growth.frontier()) {
      guesses.push_back(guess(own.context(path_to(growth.rows(), row)), from));
      guesses.back().resize(std::min(guesses.back().size(), children_max));
    }
    const std::vector<std::span<const Ranked>> candidates(guesses.begin(), guesses.end());
    growth.add(candidates);
  }
  return growth.tree();
}

}  // namespace

TenantId NgramMethod::tenant_of(const GenerationSpec& spec) const {
  constexpr TenantId kEveryone = 1;
  const LookUp where = texts_->where();
  return where == LookUp::own ? kNoTenant : where == LookUp::all ? kEveryone : spec.tenant;
}

void NgramMethod::begin(const DraftKey& key, const GenerationSpec& spec) {
  sequences_[key] = {.text = NgramCounts(),
                     .tenant = tenant_of(spec),
                     .prompt_length = spec.prompt_length,
                     .sampled = is_sampled(spec.acceptance.rule)};
}

void NgramMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  Sequence& sequence = sequences_[key];
  sequence.text.append(tokens);
  sequence.length += static_cast<int32_t>(tokens.size());
}

Result<std::vector<Draft>> NgramMethod::draft(std::span<const DraftAsk> asks) {
  std::vector<Draft> trees;
  trees.reserve(asks.size());
  for (const DraftAsk& ask : asks) {
    const Sequence& sequence = sequences_[ask.key];
    NgramSources from{.texts = {&sequence.text}, .corpora = corpora_};
    if (const NgramCounts* earlier = texts_->tenants().find(sequence.tenant)) from.texts.push_back(earlier);
    const TokenTree tree = grow(sequence.text, from, ask.rule, sequence.sampled ? 1 : kGuessesMax);
    trees.push_back(sequence.sampled ? DraftTree::certain(tree) : DraftTree(tree));
  }
  return trees;
}

// The answer is remembered with the end of its prompt, so that its first tokens are found too.
void NgramMethod::end(const DraftKey& key) {
  const auto ended = sequences_.find(key);
  if (ended == sequences_.end()) return;
  const Sequence& sequence = ended->second;
  const int32_t answer = sequence.length - sequence.prompt_length;
  if (answer > 0) texts_->tenants().append(sequence.tenant, sequence.text.tail(answer + kNgramMax));
  sequences_.erase(ended);
}

}  // namespace slipstream
