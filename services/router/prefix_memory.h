// Which verifier computed which prompt prefix last: a chat's next turn and requests with the same
// system prompt are best taken where their beginning is at hand. Bounded: the prefixes not met for
// longest are forgotten. Ids of verifiers and hashes only; two prefixes with one hash cost a better
// place, never a word. Pure.
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

inline constexpr int32_t kPrefixStrideTokens = 32;        // as a verifier's cache blocks
inline constexpr size_t kPrefixesRememberedMax = 65'536;  // about 6 MB, two million tokens of prompts

// The hashes of tokens [0, 32), [0, 64), ... as far as they are whole.
std::vector<uint64_t> hash_prefixes(std::span<const TokenId> tokens);

class PrefixMemory {
 public:
  explicit PrefixMemory(size_t prefixes_max = kPrefixesRememberedMax) : prefixes_max_(prefixes_max) {}

  // prefixes: as hash_prefixes() gives them. The verifier that computed a prefix last is the one
  // that is remembered.
  void remember(std::span<const uint64_t> prefixes, Peer verifier);
  void forget(Peer verifier);
  // By verifier, the tokens of the longest of these prefixes that it computed last; only those that
  // have one.
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
