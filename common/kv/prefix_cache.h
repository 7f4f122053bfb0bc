// Whole cache blocks that outlive their sequence, by the tokens that they and all before them hold:
// who begins with the same tokens takes them and need not compute them again. K and V of a position
// follow from the tokens up to it alone, to the bit (kernels/cpu/kernels.h), so that nothing but
// the time shows it.
//
// A tree of blocks: each is a child of the one before, told from its siblings by its 32 tokens
// themselves, not by a hash of them, so that no two prefixes are ever taken for one. Who holds a
// block holds all those before it. What was used longest ago goes first, children before their
// parents, and nothing that a sequence holds. Pure, not thread-safe.
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

  // How far a sequence's own blocks have gone in; of use while it holds them. Default: nowhere yet.
  class Place {
   public:
    int32_t blocks() const { return blocks_; }

   private:
    friend PrefixCache;
    Node* node_ = nullptr;
    int32_t blocks_ = 0;
  };

  // The blocks of the longest beginning of these tokens that is here, whole blocks only. The caller
  // becomes a holder of each; place: behind them.
  std::vector<int32_t> find(std::span<const TokenId> tokens, Place& place);

  // Keeps `block`, whose holder has the K and V of these [kBlockTokens] tokens in it, and moves
  // `place` behind it. Returns the block to hold from now on: `block`, or in its stead the one with
  // the same that is here already.
  int32_t keep(Place& place, std::span<const TokenId> tokens, int32_t block);

  // Both for all blocks of a sequence at once. tokens: its own, from position 0 on. begin: `table`,
  // which has no block yet, takes what is here of their beginning. Returns how many positions that
  // is.
  int32_t begin(BlockTable& table, std::span<const TokenId> tokens, Place& place);
  // keep_whole: of the positions before `end`, which are computed and wait for no move, all whole
  // blocks behind `place` are kept.
  void keep_whole(BlockTable& table, std::span<const TokenId> tokens, int32_t end, Place& place);

  // Frees the block that was used longest ago among those that nobody else holds. False: there is
  // none.
  bool evict();
  int32_t blocks() const { return static_cast<int32_t>(nodes_.size()); }

 private:
  using BlockTokens = std::array<TokenId, kBlockTokens>;
  struct Key {
    const Node* parent = nullptr;  // null: the block begins at position 0
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

  static Key key_of(const Node* parent, std::span<const TokenId> tokens);
  void touch(Node* node);  // and all before it

  BlockPool& pool_;
  Nodes nodes_;  // used last first, a parent before its children
  std::unordered_map<Key, Node*, Hash> by_key_;
};

}  // namespace slipstream
