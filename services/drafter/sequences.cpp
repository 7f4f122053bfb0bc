#include "services/drafter/sequences.h"

#include "common/base/check.h"

namespace slipstream {
namespace {

// An Advance with info and base length 0 that carries another hash than that of no tokens is
// broken: it must not begin a sequence.
bool starts_anew(const Advance& advance) {
  return advance.info && advance.fence.base_length == 0 && advance.fence.prefix_hash == PrefixHash{}.value();
}

}  // namespace

// The order of the tests matters. Old messages are dropped first, even if they would fit, because
// they may be repeated or late. A gap is told apart from a mismatch so that what is held is kept.
Fit fit(const HeldSequence* held, const Advance& advance) {
  const Fence& fence = advance.fence;
  const Fit otherwise = starts_anew(advance) ? Fit::begin : Fit::mismatch;
  if (held == nullptr) return otherwise;
  if (fence.epoch != held->epoch) return fence.epoch < held->epoch ? Fit::stale : otherwise;
  if (fence.round < held->round) return Fit::stale;
  // A long prompt comes in several Advances of one round, each of which brings new tokens. One that
  // brings no new tokens in a round that was heard before is a repetition.
  if (fence.round == held->round && (fence.base_length < held->length || advance.tokens.empty())) return Fit::stale;
  if (fence.base_length > held->length) return Fit::gap;
  if (fence.base_length == held->length && fence.prefix_hash == held->hash.value()) return Fit::extend;
  return otherwise;
}

Fence fence_after(const Advance& advance) {
  Fence after = advance.fence;
  PrefixHash hash(advance.fence.prefix_hash);
  hash.add(advance.tokens);
  after.base_length += static_cast<int32_t>(advance.tokens.size());
  after.prefix_hash = hash.value();
  return after;
}

const HeldSequence& Sequences::apply(const DraftKey& key, const Advance& advance, Fit fit, Time now) {
  CHECK(fit == Fit::begin || fit == Fit::extend, "only what fits is applied");
  HeldSequence& held = held_[key];
  if (fit == Fit::begin) {
    tokens_ -= held.length;  // 0 if the sequence is new
    held = HeldSequence{.trace = advance.info->trace, .began = now};
  }
  held.epoch = advance.fence.epoch;
  held.round = advance.fence.round;
  held.length += static_cast<int32_t>(advance.tokens.size());
  held.hash.add(advance.tokens);
  held.heard = now;
  tokens_ += static_cast<int64_t>(advance.tokens.size());
  return held;
}

const HeldSequence* Sequences::find(const DraftKey& key) const {
  const auto at = held_.find(key);
  return at == held_.end() ? nullptr : &at->second;
}

void Sequences::sent(const DraftKey& key, size_t nodes) {
  HeldSequence& held = held_.at(key);
  ++held.trees;
  held.nodes += static_cast<int64_t>(nodes);
}

std::optional<HeldSequence> Sequences::erase(const DraftKey& key) {
  const auto at = held_.find(key);
  if (at == held_.end()) return std::nullopt;
  HeldSequence erased = at->second;
  tokens_ -= erased.length;
  held_.erase(at);
  return erased;
}

std::vector<DraftKey> Sequences::of_verifier(Peer verifier) const {
  std::vector<DraftKey> keys;
  // Keys order by verifier first, so those of one verifier are neighbours.
  for (auto at = held_.lower_bound(DraftKey{verifier, {}}); at != held_.end() && at->first.verifier == verifier; ++at) {
    keys.push_back(at->first);
  }
  return keys;
}

std::vector<DraftKey> Sequences::silent_since(Time before) const {
  std::vector<DraftKey> keys;
  for (const auto& [key, held] : held_) {
    if (held.heard <= before) keys.push_back(key);
  }
  return keys;
}

std::vector<DraftKey> Sequences::all() const {
  std::vector<DraftKey> keys;
  for (const auto& [key, held] : held_) keys.push_back(key);
  return keys;
}

}  // namespace slipstream
