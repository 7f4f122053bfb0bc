// A sequence of tokens whose keys and values (K/V) live in the paged cache of a model. The verifier
// has one for each request, a model-backed draft method one for each sequence that it drafts for.
//
//   CachedSequence sequence(cache.pool(), prompt_length);
//   sequence.append(tokens);
//   ... a pass computes rows of it (pass.h) ...
//   sequence.computed(rows);                            // the pass computed a chunk of its context
//   sequence.commit(accepted_rows, new_tokens);         // or: the pass verified a tree behind it
//
// The root is the last token. A draft tree hangs behind it: row j of the tree lies at cache
// position root() + j, and row 0 is the root itself.
//
//   position   0 ... in_place()-1   ... cached()-1      ... root()       root()+1 ...
//   K/V        in the cache         after the moves     not computed     rows of a draft tree
//
// Invariants:
//   1. K/V of positions [0, cached()) is in the cache once the pending moves are done.
//   2. K/V of positions [0, in_place()) is there already and waits for no move; in_place() <=
//      cached() <= size().
//   3. hash() and the counts of the logits processor cover exactly tokens().
//   4. The blocks that it holds cover positions [0, cached()). Without blocks it has no pending moves.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
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
  // The first prompt_length tokens are the prompt, all later ones the output. It shares cached
  // prefixes with sequences of the same tenant. The pool outlives the sequence.
  CachedSequence(BlockPool& pool, int32_t prompt_length, LogitsParams logits_params = {}, TenantId tenant = kNoTenant);

  // The tokens. append() adds some behind the last one; their K/V is computed by later passes.
  void append(std::span<const TokenId> tokens);
  const std::vector<TokenId>& tokens() const { return tokens_; }
  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  int32_t output() const { return size() - prompt_length_; }  // tokens behind the prompt; negative: the prompt is incomplete
  int32_t root() const { return size() - 1; }                 // position of the last token
  PrefixHash hash() const { return hash_; }
  // Null: the request changes no logits. A pass in flight reads the processor on other threads, so
  // tokens may be added only between passes.
  const std::shared_ptr<LogitsProcessor>& logits_processor() const { return logits_processor_; }

  // The cache.
  int32_t cached() const { return cached_; }
  int32_t in_place() const { return in_place_; }
  int32_t prefill_rows() const { return root() - cached_; }  // context rows to compute before the root's
  bool holds_blocks() const { return !table_.blocks().empty(); }
  std::span<const int32_t> blocks() const { return table_.blocks(); }
  int32_t slot(int32_t position) const { return table_.slot(position); }
  std::span<const KvMove> pending_moves() const { return moves_; }
  std::vector<KvMove> take_moves() { return std::exchange(moves_, {}); }  // for a pass, which does them

  // A pass did the pending moves and computed the next `rows` positions. REQUIRES: that pass took
  // the moves (Pass does).
  void computed(int32_t rows);
  // Makes the next pass compute the root's row even if the cache has it, because the pass needs the
  // logits of that row for a new tree.
  void recompute_root();
  // A pass computed the root and a draft tree behind it. Appends `tokens`, and turns the accepted
  // rows of the tree into context. Rows that must be copied for that become pending moves.
  //
  //   path     rows of the accepted nodes, ascending, without row 0
  //   tokens   the tokens of the path, then those that the target sampled behind it
  //
  // REQUIRES: path is not longer than tokens.
  void commit(std::span<const int32_t> path, std::span<const TokenId> tokens);
  // Gives all blocks back. The tokens stay; later passes compute them again.
  void forget();

 private:
  friend class Pass;           // it takes the pending moves
  friend class SequenceCache;  // it gives blocks and keeps them

  int32_t prompt_length_ = 0;
  std::vector<TokenId> tokens_;
  PrefixHash hash_;
  std::shared_ptr<LogitsProcessor> logits_processor_;

  BlockTable table_;
  int32_t cached_ = 0;
  int32_t in_place_ = 0;
  std::vector<KvMove> moves_;  // pending moves of the last commit
  PrefixCache::Place prefix_;  // how far the prefix cache keeps its blocks
};

}  // namespace slipstream
