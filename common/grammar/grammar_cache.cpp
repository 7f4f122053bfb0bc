#include "common/grammar/grammar_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slipstream {

std::optional<GrammarCache::Compiled> GrammarCache::find(const GrammarText& text) {
  std::lock_guard lock(mutex_);
  if (const auto refused = std::ranges::find(refusals_, text, &Refusal::text); refused != refusals_.end()) {
    refusals_.splice(refusals_.begin(), refusals_, refused);
    return std::unexpected(refused->error);
  }
  const auto at = std::ranges::find(entries_, text, &Entry::text);
  Kept found = at == entries_.end() ? nullptr : at->grammar.lock();
  if (found == nullptr) return std::nullopt;
  use(at);
  return found;
}

void GrammarCache::keep(const GrammarText& text, const Compiled& compiled) {
  std::lock_guard lock(mutex_);
  if (!compiled) return keep_refusal(text, compiled.error());
  std::erase_if(entries_, [&](const Entry& entry) { return entry.grammar.expired() || entry.text == text; });
  entries_.push_front({.text = text, .grammar = *compiled, .kept = nullptr});
  use(entries_.begin());
}

void GrammarCache::keep_refusal(const GrammarText& text, const GrammarError& error) {
  const auto bytes = [](const Refusal& refusal) { return refusal.text.text.size() + refusal.error.message.size(); };
  if (!error.lasting || std::ranges::find(refusals_, text, &Refusal::text) != refusals_.end()) return;
  refusals_.push_front({.text = text, .error = error});
  refusal_bytes_ += bytes(refusals_.front());
  while (refusals_.size() > kRefusalsKept || refusal_bytes_ > kRefusalBytesKept) {
    refusal_bytes_ -= bytes(refusals_.back());
    refusals_.pop_back();
  }
}

void GrammarCache::use(std::list<Entry>::iterator at) {
  at->kept = at->grammar.lock();
  entries_.splice(entries_.begin(), entries_, at);
  if (entries_.size() > kGrammarsKept) std::next(entries_.begin(), kGrammarsKept)->kept.reset();
}

GrammarCache::Compiled GrammarCache::compiled(const Grammars& grammars, const GrammarText& text) {
  auto made = grammars.compile(text);
  if (!made) return std::unexpected(std::move(made.error()));
  return std::make_shared<const Grammar>(*std::move(made));
}

GrammarCache::Compiled GrammarCache::compile(const GrammarText& text) {
  if (auto found = find(text)) return *std::move(found);
  Compiled made = compiled(grammars_, text);
  keep(text, made);
  return made;
}

std::optional<GrammarError> GrammarCache::why_not(const GrammarText& text) {
  if (const auto found = find(text)) return *found ? std::nullopt : std::optional(found->error());
  const auto made = grammars_.compile(text);
  if (made) return std::nullopt;
  keep(text, std::unexpected(made.error()));
  return made.error();
}

}  // namespace slipstream
