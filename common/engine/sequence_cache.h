// The paged cache that the sequences of one model share: a pool of blocks, kept prefixes, and the
// rule of who makes room when it is full.
//
//   SequenceCache cache(blocks, [&](const CachedSequence& needy) { return youngest_behind(needy); });
//   CachedSequence sequence(cache.pool(), prompt_length);
//   cache.adopt(sequence);                                    // what the cache knows of its beginning
//   if (!cache.reserve(sequence, positions, MayEvict::sequences)) return;
//   ... passes compute it ...
//   cache.keep(sequence);                                     // for others that begin alike
//
// Ids only, never memory: the model owns the rows. The cache outlives its sequences. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>

#include "common/engine/cached_sequence.h"
#include "common/kv/block_pool.h"
#include "common/kv/prefix_cache.h"

namespace slipstream {

// Who may lose blocks so that a sequence gets its own.
enum class MayEvict : uint8_t {
  prefixes,  // kept blocks that no sequence holds, those used longest ago first
  sequences  // the same; then sequences that the owner names
};

class SequenceCache {
 public:
  // Names the sequence that makes room for `needy` next; it holds blocks. Null: none has to. Its
  // tokens stay, and it is computed again later, to the same bits (row invariance).
  using NextVictim = std::function<CachedSequence*(const CachedSequence& needy)>;

  SequenceCache(int32_t blocks, NextVictim next_victim);

  // REQUIRES: the sequence has tokens and no blocks. Gives it the kept blocks of its longest known
  // prefix. The root is never among them: it has yet to be computed. Returns how many positions
  // need not be computed.
  int32_t adopt(CachedSequence& sequence);
  // Makes room for that many positions of the sequence. False: there is none; what was evicted for
  // it stays evicted.
  bool reserve(CachedSequence& sequence, int32_t positions, MayEvict evict);
  // Keeps whole blocks of the sequence for others that begin alike, as far as they are in place.
  void keep(CachedSequence& sequence);

  BlockPool& pool() { return pool_; }
  int32_t blocks_free() const { return pool_.free(); }
  int32_t blocks_kept() const { return prefixes_.blocks(); }
  uint64_t prefixes_evicted() const { return prefixes_evicted_; }  // blocks, since the cache was made
  uint64_t sequences_evicted() const { return sequences_evicted_; }

 private:
  BlockPool pool_;
  PrefixCache prefixes_{pool_};
  NextVictim next_victim_;
  uint64_t prefixes_evicted_ = 0, sequences_evicted_ = 0;
};

}  // namespace slipstream
