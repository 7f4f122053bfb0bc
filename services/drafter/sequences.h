// The fence book-keeping of the sequences a drafter holds: how much of each it knows, and whether
// an Advance fits. Ids and numbers only; the tokens themselves live with the method.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/prefix_hash.h"
#include "common/drafting/method.h"
#include "common/messages/draft.h"

namespace slipstream {

// What is known of one sequence. Round and length grow within an epoch; committed tokens are never
// taken back.
struct HeldSequence {
  Epoch epoch = 0;
  Round round = 0;
  int32_t length = 0;  // tokens held; hash covers exactly those
  PrefixHash hash;
  Time heard{};  // when its newest Advance was applied
};

enum class Fit : uint8_t {
  begin,    // starts the sequence (anew): info present, nothing before the new tokens
  extend,   // goes on from exactly what is held
  stale,    // an older epoch or round, or the same message again
  gap,      // tokens before it are missing: keep what is held, ask for the rest
  mismatch  // another prefix than ours, or never met: nothing held is of use
};

// held: null for a sequence never met. Pure.
Fit fit(const HeldSequence* held, const Advance& advance);

// The fence of a tree that answers this Advance, from the Advance alone: FNV goes on from the value
// it carries.
Fence fence_after(const Advance& advance);

class Sequences {
 public:
  // Also the way to hold a new one. Returns what `key` holds after the Advance; fit() must have
  // said begin or extend.
  const HeldSequence& apply(const DraftKey& key, const Advance& advance, Fit fit, Time now);
  const HeldSequence* find(const DraftKey& key) const;
  bool erase(const DraftKey& key);  // false: was not there

  std::vector<DraftKey> of(Peer verifier) const;
  std::vector<DraftKey> silent_since(Time before) const;
  std::vector<DraftKey> all() const;
  size_t size() const { return held_.size(); }
  int64_t tokens() const { return tokens_; }

 private:
  std::map<DraftKey, HeldSequence> held_;
  int64_t tokens_ = 0;  // sum of all lengths
};

}  // namespace slipstream
