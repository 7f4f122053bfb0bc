// Remembers which verifier computed which prompt prefix last. A chat's next turn, and requests with
// one system prompt, are cheapest at the verifier that has their prefix cached. It is bounded: the
// prefixes that were not met for longest are forgotten. It holds hashes, no tokens; a hash
// collision can only cause a worse placement. Pure.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/ids.h"

namespace slipstream {

inline constexpr int32_t kPrefixStrideTokens = 32;        // the size of a verifier's cache blocks
inline constexpr size_t kPrefixesRememberedMax = 65'536;  // about 6 MB, two million tokens of prompts

// The hashes of tokens [0, 32), [0, 64), ... up to the last whole stride. Tenants share no prefix.
std::vector<uint64_t> hash_prefixes(std::span<const TokenId> tokens, TenantId tenant = kNoTenant);

class PrefixMemory {
 public:
  explicit PrefixMemory(size_t prefixes_max = kPrefixesRememberedMax) : prefixes_max_(prefixes_max) {}

  // Takes prefixes as hash_prefixes() gives them. The verifier replaces an earlier one.
  void remember(std::span<const uint64_t> prefixes, Peer verifier);
  void forget(Peer verifier);
  // For each verifier that computed one of these prefixes last, the tokens of the longest of them.
  std::map<Peer, int32_t> find(std::span<const uint64_t> prefixes) const;
  size_t size() const { return by_hash_.size(); }

 private:
  struct Entry {
    uint64_t hash = 0;
    Peer verifier;
  };
  size_t prefixes_max_;
  std::list<Entry> entries_;  // the newest first
  std::unordered_map<uint64_t, std::list<Entry>::iterator> by_hash_;
};

}  // namespace slipstream
