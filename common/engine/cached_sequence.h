// A sequence of tokens whose keys and values (K/V) live in the paged cache of a model. The verifier
// has one for each request, a draft method with a model one for each sequence that it drafts for.
//
//   CachedSequence sequence(cache.pool(), prompt_length);
//   sequence.append(tokens);
//   ... a pass computes rows of it (pass.h) ...
//   sequence.computed(rows);                            // a chunk of its context is in the cache now
//   sequence.commit(accepted_rows, new_tokens);         // or: a tree behind it was verified
//
// The root is the last token. A draft tree hangs behind it: row j of the tree lies at cache
// position root() + j, and row 0 is the root itself.
//
// Invariants:
//   1. K/V of positions [0, cached()) is in the cache, once the pending moves are done.
//   2. K/V of positions [0, in_place()) is there already and waits for no move; in_place() <=
//      cached() <= size().
//   3. hash() covers exactly tokens(), and so does what the logits processor has counted.
//   4. The blocks it holds cover positions [0, cached()); without blocks it has no pending moves.
//      Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/prefix_hash.h"
#include "common/kv/block_table.h"
#include "common/kv/kv_move.h"
#include "common/kv/prefix_cache.h"
#include "common/sampling/logits_processor.h"

namespace slipstream {

class CachedSequence {
 public:
  // The first prompt_length tokens are the prompt, all later ones the output. The pool outlives the
  // sequence.
  CachedSequence(BlockPool& pool, int32_t prompt_length, LogitsParams logits_params = {});

  // The tokens. append() computes nothing.
  void append(std::span<const TokenId> tokens);
  const std::vector<TokenId>& tokens() const { return tokens_; }
  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  int32_t output() const { return size() - prompt_length_; }  // tokens behind the prompt; below 0: some of it is missing
  int32_t root() const { return size() - 1; }                 // position of the last token
  PrefixHash hash() const { return hash_; }
  // Null: the request changes no logits. A pass in flight reads it, so the sequence may change only
  // between passes.
  const std::shared_ptr<LogitsProcessor>& logits_processor() const { return logits_processor_; }

  // The cache.
  int32_t cached() const { return cached_; }
  int32_t in_place() const { return in_place_; }
  int32_t prefill_rows() const { return root() - cached_; }  // rows to compute before the root's
  bool holds_blocks() const { return !table_.blocks().empty(); }
  std::span<const int32_t> blocks() const { return table_.blocks(); }
  int32_t slot(int32_t position) const { return table_.slot(position); }
  std::span<const KvMove> pending_moves() const { return moves_; }

  // A pass has done the pending moves, and computed the next `rows` positions.
  void computed(int32_t rows);
  // The next pass computes the root's row, even if the cache has it: a new tree hangs behind it.
  void recompute_root();
  // A pass has computed the root and a tree behind it. Those rows of the tree that were accepted,
  // `path`, become context, and `tokens` are appended: the path's own tokens first. What has to be
  // copied for that becomes a pending move. path: ascending, without row 0; at most as long as
  // `tokens`.
  void commit(std::span<const int32_t> path, std::span<const TokenId> tokens);
  // Gives all blocks back. The tokens stay; a later pass computes them again.
  void forget();

 private:
  friend class Pass;           // takes the pending moves
  friend class SequenceCache;  // gives and keeps blocks

  int32_t prompt_length_ = 0;
  std::vector<TokenId> tokens_;
  PrefixHash hash_;
  std::shared_ptr<LogitsProcessor> logits_processor_;

  BlockTable table_;
  int32_t cached_ = 0;
  int32_t in_place_ = 0;
  std::vector<KvMove> moves_;  // the last commit's; the next pass does them first
  PrefixCache::Place prefix_;  // how far its blocks are kept for others
};

}  // namespace slipstream
