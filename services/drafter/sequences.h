// The fences of the sequences that a drafter holds: how many tokens of each it has, and whether an
// Advance fits to them. The tokens themselves are with the method. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/prefix_hash.h"
#include "common/drafting/method.h"
#include "common/messages/draft.h"

namespace slipstream {

// The state of one sequence. Within an epoch, round and length never decrease, because emitted
// tokens are never taken back.
struct HeldSequence {
  Epoch epoch = 0;
  Round round = 0;
  int32_t length = 0;  // tokens held
  PrefixHash hash;     // of exactly those tokens
  Time heard{};        // when the newest Advance was applied

  // Of its span, if it is traced.
  TraceContext trace = {};
  Time began{};
  int64_t trees = 0, nodes = 0;  // sent
};

// How an Advance relates to the state of its sequence (docs/design/WIRE.md, section 6).
enum class Fit : uint8_t {
  begin,    // it has info and base length 0, and does not extend: the sequence begins, or begins anew
  extend,   // its base is exactly what is held
  stale,    // it is of an older epoch or round, or a repeated message: drop it
  gap,      // tokens between what is held and its base are missing: Resync from what is held
  mismatch  // another prefix, or an unknown sequence: forget it, Resync from 0
};

// held: the sequence's state; null if it is unknown.
Fit fit(const HeldSequence* held, const Advance& advance);

// The fence of a tree that answers this Advance. It follows from the Advance alone, whether the
// sequence is held or not, because the prefix hash continues from the value in the Advance.
Fence fence_after(const Advance& advance);

// All sequences that a drafter holds. A key is (verifier, sequence id).
class Sequences {
 public:
  // Applies an Advance, and adds the sequence if it is new. Returns its new state.
  // REQUIRES: fit(find(key), advance) is `fit`, which is begin or extend.
  const HeldSequence& apply(const DraftKey& key, const Advance& advance, Fit fit, Time now);
  const HeldSequence* find(const DraftKey& key) const;
  void sent(const DraftKey& key, size_t nodes);            // a tree of so many. REQUIRES: it is held
  std::optional<HeldSequence> erase(const DraftKey& key);  // nullopt: it was not held

  std::vector<DraftKey> of_verifier(Peer verifier) const;  // those of one verifier
  std::vector<DraftKey> silent_since(Time before) const;   // those without an Advance after that time
  std::vector<DraftKey> all() const;
  size_t size() const { return held_.size(); }
  // The lengths of all sequences together.
  int64_t tokens() const { return tokens_; }

 private:
  std::map<DraftKey, HeldSequence> held_;  // ordered by verifier first: of_verifier() reads one range
  int64_t tokens_ = 0;
};

}  // namespace slipstream
