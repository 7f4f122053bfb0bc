// The paged cache that the sequences of one model share: a pool of blocks, the prefix cache, and
// the eviction rule.
//
//   SequenceCache cache(blocks, [&](const CachedSequence& needy) { return youngest_behind(needy); });
//   CachedSequence sequence(cache.pool(), prompt_length);
//   cache.adopt(sequence);                                    // the cached blocks of its longest known prefix
//   if (!cache.reserve(sequence, positions, MayEvict::sequences)) return;
//   ... passes compute it ...
//   cache.keep(sequence);                                     // for later sequences with the same prefix
//
// Eviction, when no block is free:
//   1. Kept blocks that no sequence holds, the least recently used first.
//   2. With MayEvict::sequences, the sequence that the owner names: it loses all its blocks.
//
// The cache manages block ids only; the model owns the memory. It outlives its sequences. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/limits.h"
#include "common/engine/cached_sequence.h"
#include "common/kv/block_pool.h"
#include "common/kv/prefix_cache.h"

namespace slipstream {

// What reserve() may evict.
enum class MayEvict : uint8_t {
  prefixes,  // kept blocks that no sequence holds
  sequences  // these first, then sequences
};

class SequenceCache {
 public:
  // Names the next sequence to evict so that `needy` gets blocks: another one, which holds blocks.
  // Null: nothing more may be evicted. The evicted sequence keeps its tokens and is computed again
  // later, to the same bits (row invariance, kernels/cpu/kernels.h).
  using NextVictim = std::function<CachedSequence*(const CachedSequence& needy)>;

  SequenceCache(int32_t blocks, NextVictim next_victim);

  // Gives a sequence without blocks the cached blocks of its longest known prefix, of at most
  // `positions_max` positions. Returns how many positions they hold. The root is never among them,
  // because its logits must be computed. REQUIRES: the sequence has tokens and no blocks.
  int32_t adopt(CachedSequence& sequence, int32_t positions_max = kContextTokensMax);
  // Gives the sequence blocks for its first `positions` positions, and evicts for them if it must.
  // False: there is no room; what was evicted stays evicted.
  bool reserve(CachedSequence& sequence, int32_t positions, MayEvict evict);
  // Keeps the whole blocks of the sequence's in_place() positions for later sequences with the same
  // prefix.
  void keep(CachedSequence& sequence);

  BlockPool& pool() { return pool_; }
  int32_t blocks_free() const { return pool_.free(); }
  int32_t blocks_kept() const { return prefixes_.blocks(); }
  uint64_t prefixes_evicted() const { return prefixes_evicted_; }  // kept blocks, since the cache was made
  uint64_t sequences_evicted() const { return sequences_evicted_; }

 private:
  BlockPool pool_;
  PrefixCache prefixes_{pool_};
  NextVictim next_victim_;
  uint64_t prefixes_evicted_ = 0, sequences_evicted_ = 0;
};

}  // namespace slipstream
