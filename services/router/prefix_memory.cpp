#include "services/router/prefix_memory.h"

#include <ranges>

#include "common/base/prefix_hash.h"

namespace slipstream {

std::vector<uint64_t> hash_prefixes(std::span<const TokenId> tokens, TenantId tenant) {
  std::vector<uint64_t> prefixes;
  PrefixHash hash(kFnv1aOfNothing ^ tenant);
  for (size_t i = 0; i < tokens.size(); ++i) {
    hash.add(tokens[i]);
    if ((i + 1) % kPrefixStrideTokens == 0) prefixes.push_back(hash.value());
  }
  return prefixes;
}

// The shortest prefix comes last and is therefore the newest: the longest ones, which the fewest
// prompts share, are forgotten first.
void PrefixMemory::remember(std::span<const uint64_t> prefixes, Peer verifier) {
  for (uint64_t hash : std::views::reverse(prefixes)) {
    if (const auto known = by_hash_.find(hash); known != by_hash_.end()) {
      known->second->verifier = verifier;
      entries_.splice(entries_.begin(), entries_, known->second);
      continue;
    }
    entries_.push_front({hash, verifier});
    by_hash_[hash] = entries_.begin();
    if (entries_.size() <= prefixes_max_) continue;
    by_hash_.erase(entries_.back().hash);
    entries_.pop_back();
  }
}

void PrefixMemory::forget(Peer verifier) {
  std::erase_if(entries_, [&](const Entry& entry) {
    if (entry.verifier != verifier) return false;
    by_hash_.erase(entry.hash);
    return true;
  });
}

std::map<Peer, int32_t> PrefixMemory::find(std::span<const uint64_t> prefixes) const {
  std::map<Peer, int32_t> tokens;
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (const auto known = by_hash_.find(prefixes[i]); known != by_hash_.end()) {
      tokens[known->second->verifier] = static_cast<int32_t>(i + 1) * kPrefixStrideTokens;
    }
  }
  return tokens;
}

}  // namespace slipstream
