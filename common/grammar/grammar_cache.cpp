#include "common/grammar/grammar_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slipstream {

GrammarCache::Kept GrammarCache::find(const GrammarText& text) {
  const auto at = std::ranges::find(entries_, text, &Entry::text);
  Kept found = at == entries_.end() ? nullptr : at->grammar.lock();
  if (found != nullptr) use(at);
  return found;
}

void GrammarCache::keep(const GrammarText& text, Kept grammar) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.grammar.expired() || entry.text == text; });
  entries_.push_front({.text = text, .grammar = grammar, .kept = nullptr});
  use(entries_.begin());
}

void GrammarCache::use(std::list<Entry>::iterator at) {
  at->kept = at->grammar.lock();
  entries_.splice(entries_.begin(), entries_, at);
  if (entries_.size() > kGrammarsKept) std::next(entries_.begin(), kGrammarsKept)->kept.reset();
}

Result<GrammarCache::Kept> GrammarCache::compile(const GrammarText& text) {
  if (Kept found = find(text)) return found;
  TRY(Grammar grammar, grammars_.compile(text));
  Kept made = std::make_shared<const Grammar>(std::move(grammar));
  keep(text, made);
  return made;
}

}  // namespace slipstream
