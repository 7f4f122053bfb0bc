#include "common/grammar/grammar_cache.h"

#include <algorithm>

namespace slipstream {

Result<Grammar> GrammarCache::compile(const GrammarText& text) {
  const auto at = std::ranges::find(kept_, text, &std::pair<GrammarText, Grammar>::first);
  if (at != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, at);
  } else {
    TRY(Grammar grammar, grammars_.compile(text));
    kept_.emplace_front(text, std::move(grammar));
    if (kept_.size() > kGrammarsKept) kept_.pop_back();
  }
  return kept_.front().second.begun();
}

}  // namespace slipstream
