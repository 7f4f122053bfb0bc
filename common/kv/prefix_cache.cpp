#include "common/kv/prefix_cache.h"

#include <algorithm>
#include <functional>

#include "common/base/check.h"
#include "common/base/prefix_hash.h"

namespace slipstream {

// Gives its hold on every block back; blocks that sequences hold live on.
PrefixCache::~PrefixCache() {
  for (const Node& node : nodes_) pool_.give(node.block);
}

// A parent's address stands for the whole prefix before the block: there is one node for each
// prefix.
size_t PrefixCache::Hash::operator()(const Key& key) const {
  PrefixHash hash(std::hash<const Node*>()(key.parent) ^ key.tenant);
  hash.add(key.tokens);
  return hash.value();
}

PrefixCache::Key PrefixCache::key_of(const Place& place, std::span<const TokenId> tokens) {
  CHECK(tokens.size() == kBlockTokens, "a block of {} tokens", tokens.size());
  Key key{.parent = place.node_, .tenant = place.node_ == nullptr ? place.tenant_ : kNoTenant};
  std::ranges::copy(tokens, key.tokens.begin());
  return key;
}

std::vector<int32_t> PrefixCache::find(std::span<const TokenId> tokens, Place& place) {
  place = place.start();
  std::vector<int32_t> blocks;
  for (; tokens.size() >= kBlockTokens; tokens = tokens.subspan(kBlockTokens)) {
    const auto at = by_key_.find(key_of(place, tokens.first(kBlockTokens)));
    if (at == by_key_.end()) break;
    place.node_ = at->second;
    ++place.blocks_;
    pool_.hold(place.node_->block);
    blocks.push_back(place.node_->block);
  }
  touch(place.node_);
  return blocks;
}

// If two sequences computed the same block at the same time, the first one is kept, and the second
// sequence changes over to it: their K/V are equal to the bit.
int32_t PrefixCache::keep(Place& place, std::span<const TokenId> tokens, int32_t block) {
  const auto [at, fresh] = by_key_.try_emplace(key_of(place, tokens), nullptr);
  if (fresh) {
    pool_.hold(block);
    nodes_.push_front({.key = at->first, .parent = place.node_, .block = block});
    nodes_.front().self = nodes_.begin();
    at->second = &nodes_.front();
  }
  place.node_ = at->second;
  ++place.blocks_;
  touch(place.node_);
  return place.node_->block;
}

int32_t PrefixCache::attach(BlockTable& table, std::span<const TokenId> tokens, Place& place) {
  table.adopt(find(tokens, place));
  return place.blocks() * kBlockTokens;
}

void PrefixCache::keep_all(BlockTable& table, std::span<const TokenId> tokens, int32_t end, Place& place) {
  while ((place.blocks() + 1) * kBlockTokens <= end) {
    const auto at = static_cast<size_t>(place.blocks());
    const int32_t own = table.blocks()[at];
    if (const int32_t block = keep(place, tokens.subspan(at * kBlockTokens, kBlockTokens), own); block != own) {
      table.replace(at, block);
    }
  }
}

// A block with one holder is held by this cache only. The first such block from the end of the list
// has no children: an idle child stands behind its parent and would be found first, and a sequence
// that holds a child holds the parent as well.
bool PrefixCache::evict() {
  const auto idle =
      std::find_if(nodes_.rbegin(), nodes_.rend(), [&](const Node& node) { return pool_.holders(node.block) == 1; });
  if (idle == nodes_.rend()) return false;
  pool_.give(idle->block);
  by_key_.erase(idle->key);
  nodes_.erase(idle->self);
  return true;
}

// From the block up to the first one, so that a parent always stands before its children in the
// list.
void PrefixCache::touch(Node* node) {
  for (; node != nullptr; node = node->parent) nodes_.splice(nodes_.begin(), nodes_, node->self);
}

}  // namespace slipstream
