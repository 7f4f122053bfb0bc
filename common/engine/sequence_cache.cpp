#include "common/engine/sequence_cache.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace slipstream {

SequenceCache::SequenceCache(int32_t blocks, NextVictim next_victim) : pool_(blocks), next_victim_(std::move(next_victim)) {}

// Looks the tokens before the root up, so that a prefix that ends with the root is not found whole.
int32_t SequenceCache::adopt(CachedSequence& sequence, int32_t positions_max) {
  const int32_t most = std::min(sequence.root(), positions_max);
  const auto before_root = std::span(sequence.tokens_).first(static_cast<size_t>(most));
  sequence.cached_ = sequence.in_place_ = prefixes_.attach(sequence.table_, before_root, sequence.prefix_);
  return sequence.cached_;
}

// Each round frees one kept block or one sequence, until the table gets all its blocks. An evicted
// sequence may have held kept blocks only; the next rounds evict those.
bool SequenceCache::reserve(CachedSequence& sequence, int32_t positions, MayEvict evict) {
  while (!sequence.table_.reserve(positions)) {
    if (prefixes_.evict()) {
      ++prefixes_evicted_;
      continue;
    }
    CachedSequence* victim = evict == MayEvict::sequences ? next_victim_(sequence) : nullptr;
    if (victim == nullptr) return false;
    CHECK(victim != &sequence && victim->holds_blocks(), "a sequence without blocks of its own cannot make room");
    victim->forget();
    ++sequences_evicted_;
  }
  return true;
}

void SequenceCache::keep(CachedSequence& sequence) {
  prefixes_.keep_all(sequence.table_, sequence.tokens_, sequence.in_place_, sequence.prefix_);
}

}  // namespace slipstream
