// The prefix cache: keeps whole cache blocks after their sequence has ended, so that a later
// sequence with the same prefix need not compute them again. K and V of a position depend on the
// tokens up to it only, to the bit (kernels/cpu/kernels.h), so a hit changes nothing but the time.
//
// The kept blocks form a tree, as prefixes do:
//   1. A block's parent is the block before it. Each tenant has a tree of its own, so nobody learns
//      from the time that an answer takes what another tenant asked.
//   2. Siblings differ in their kBlockTokens tokens. The tokens themselves are compared, not a hash
//      only, so two prefixes are never confused.
//   3. A sequence that holds a block holds all blocks before it.
//   4. Eviction takes the least recently used block that no sequence holds. A use of a block is a use
//      of all blocks before it, so children go before their parents.
//
// Pure. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/block_pool.h"
#include "common/kv/block_table.h"

namespace slipstream {

class PrefixCache {
  struct Node;

 public:
  explicit PrefixCache(BlockPool& pool) : pool_(pool) {}  // the pool outlives it
  PrefixCache(const PrefixCache&) = delete;
  ~PrefixCache();

  // How far the blocks of a sequence are kept: a position in the tree. Valid while the sequence
  // holds its blocks. At first none is kept.
  class Place {
   public:
    explicit Place(TenantId tenant = kNoTenant) : tenant_(tenant) {}
    int32_t blocks() const { return blocks_; }
    Place start() const { return Place(tenant_); }  // before its first block

   private:
    friend PrefixCache;
    TenantId tenant_;
    Node* node_ = nullptr;
    int32_t blocks_ = 0;
  };

  // One block at a time.

  // Finds the longest kept prefix of `tokens` and returns its blocks. The caller becomes a holder
  // of each. Sets `place` behind them, wherever it was in its tenant's tree.
  std::vector<int32_t> find(std::span<const TokenId> tokens, Place& place);

  // Keeps `block`, which holds K and V of these tokens [kBlockTokens], and moves `place` behind it.
  // Returns the block to use from now on: `block`, or the one with the same tokens that was kept
  // already.
  int32_t keep(Place& place, std::span<const TokenId> tokens, int32_t block);

  // All blocks of a sequence at once. tokens: those of the sequence, from position 0 on.

  // find() for a table without blocks: the table takes them. Returns how many positions they hold.
  int32_t attach(BlockTable& table, std::span<const TokenId> tokens, Place& place);
  // keep() for all whole blocks between `place` and position `end`. REQUIRES (unchecked): these
  // positions are computed and wait for no move.
  void keep_all(BlockTable& table, std::span<const TokenId> tokens, int32_t end, Place& place);

  // Frees the least recently used block that no sequence holds. False: there is none.
  bool evict();
  int32_t blocks() const { return static_cast<int32_t>(nodes_.size()); }

 private:
  using BlockTokens = std::array<TokenId, kBlockTokens>;
  struct Key {
    const Node* parent = nullptr;  // null: the block begins at position 0
    TenantId tenant = kNoTenant;   // of a block that begins at position 0
    BlockTokens tokens{};
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  using Nodes = std::list<Node>;
  struct Node {
    Key key;
    Node* parent = nullptr;
    int32_t block = 0;
    Nodes::iterator self{};
  };

  static Key key_of(const Place& place, std::span<const TokenId> tokens);
  void touch(Node* node);  // marks it and all blocks before it as used now

  BlockPool& pool_;
  Nodes nodes_;  // most recently used first, a parent before its children
  std::unordered_map<Key, Node*, Hash> by_key_;
};

}  // namespace slipstream
