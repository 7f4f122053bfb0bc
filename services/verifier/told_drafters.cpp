// What its drafters are told of a sequence: the tokens that they lack, and, if they read them, the
// features of these.
#include <algorithm>
#include <utility>

#include "services/verifier/rounds.h"
#include "services/verifier/sequence_span.h"

namespace slipstream {
namespace {

void set_held(const VerifierSequence& sequence, SequenceDrafter& drafter, int32_t tokens) {
  drafter.holds = tokens;
  drafter.prefix = {};
  drafter.prefix.add(std::span(sequence.context.tokens()).first(static_cast<size_t>(tokens)));
}

// Tokens of an Advance behind so many that the drafter holds. numbers: of a feature; 0: it reads
// none.
size_t chunk_most(size_t held, int32_t numbers) {
  if (numbers == 0) return kAdvanceTokensMax;
  return held == 0 ? 1 : static_cast<size_t>(std::clamp(kAdvanceFeaturesMax / numbers, 1, kAdvanceTokensMax));
}

// The position of the first feature that a drafter lacks: the token behind it is its next one.
int32_t lacks_from(const SequenceDrafter& drafter) { return std::max(drafter.holds - 1, 0); }

}  // namespace

// Sends what the drafter does not hold yet of the tokens before `end`, in chunks. With the last
// token it asks for the tree.
void Rounds::advance(VerifierSequence& sequence, SequenceDrafter& drafter, int32_t end, Effects& effects) {
  const SequenceDrafting& drafting = sequence.drafting;
  const DrafterLink* link = links_.find(drafter.peer);
  const int32_t numbers = link != nullptr && link->reads_features ? config_.features.numbers : 0;
  const auto all = std::span(sequence.context.tokens()).first(static_cast<size_t>(end));
  auto held = static_cast<size_t>(drafter.holds);
  PrefixHash& hash = drafter.prefix;
  do {
    const auto chunk = all.subspan(held, std::min(all.size() - held, chunk_most(held, numbers)));
    Advance message{.fence = {.sequence = sequence.identity.id,
                              .epoch = sequence.identity.epoch,
                              .round = drafting.round,
                              .base_length = static_cast<int32_t>(held),
                              .prefix_hash = hash.value()},
                    .tokens = {chunk.begin(), chunk.end()},
                    .draft = held + chunk.size() == sequence.context.tokens().size(),
                    .tuning = asked_tuning(sequence, drafter),
                    .info = std::nullopt};
    if (held == 0) {
      message.info = drafter_part(sequence.spec);
      if (sequence.spec.trace.traced()) message.info->trace.parent = span_id_of(sequence);
    }
    // One that begins anew has forgotten its tree.
    if (std::vector<TokenId> verdicts = std::exchange(drafter.verdicts, {}); held > 0) message.verdicts = std::move(verdicts);
    if (numbers > 0 && held > 0) {
      const auto rows = drafting.features.rows(static_cast<int32_t>(held) - 1, static_cast<int32_t>(chunk.size()));
      message.features.assign(rows.begin(), rows.end());
      counters_.features_sent += chunk.size();
    }
    effects.push_back(To<Advance>{drafter.peer, std::move(message)});
    hash.add(chunk);
    held += chunk.size();
  } while (held < all.size());
  drafter.holds = static_cast<int32_t>(held);
}

void Rounds::resync(Peer peer, const Resync& message, VerifierSequence* sequence, Effects& effects) {
  SequenceDrafter* drafter = sequence == nullptr || !sequence->running() ? nullptr : sequence->drafting.find(peer);
  if (drafter == nullptr || !drafter->ask.asked || message.round != sequence->drafting.round ||
      std::exchange(drafter->ask.resynced, true)) {
    ++counters_.fenced;
    return;
  }
  ++counters_.resyncs;
  const bool plausible = message.held > 0 && message.held < sequence->context.size();
  set_held(*sequence, *drafter, plausible ? message.held : 0);
  if (has_features(*sequence, *drafter)) return advance(*sequence, *drafter, sequence->context.size(), effects);
  // The next step reads them, and a later round asks. This one has failed: a drafter that forgets
  // each time is asked rarely.
  drafter->ask.prefills = false;
  drafter->ask.deadline = {};
  keep_features(*sequence);
}

void Rounds::forget_drafter_state(VerifierSequence& sequence, Peer peer) {
  if (SequenceDrafter* drafter = sequence.drafting.find(peer)) set_held(sequence, *drafter, 0);
}

// Whether the features are known that the drafter lacks for a tree behind the newest token.
bool Rounds::has_features(const VerifierSequence& sequence, const SequenceDrafter& drafter) const {
  const DrafterLink* link = links_.find(drafter.peer);
  if (link == nullptr || !link->reads_features) return true;
  const FeatureWindow& window = sequence.drafting.features;
  return window.begin() <= lacks_from(drafter) && window.end() >= sequence.context.root();
}

// Whether it may be asked soon, and reads features.
bool Rounds::awaits_features(const VerifierSequence& sequence, const SequenceDrafter& drafter) const {
  const DrafterLink* link = links_.find(drafter.peer);
  return link != nullptr && link->attached && link->reads_features && why_rests(sequence, drafter) == RoundAsk::asked;
}

// What no drafter lacks that may be asked is dropped. What one lacks from before the window, the
// next steps read.
void Rounds::keep_features(VerifierSequence& sequence) const {
  SequenceDrafting& drafting = sequence.drafting;
  std::optional<int32_t> first;
  for (const SequenceDrafter& drafter : drafting.drafters) {
    if (!awaits_features(sequence, drafter)) continue;
    first = std::min(first.value_or(kContextTokensMax), lacks_from(drafter));
  }
  drafting.reads_features = first.has_value();
  if (first) {
    drafting.features.keep_from(*first);
  } else {
    drafting.features = {};
  }
}

// All but the newest token: that comes with the ask.
void Rounds::feed(VerifierSequence& sequence, Effects& effects) {
  if (!sequence.drafting.reads_features) return;
  const FeatureWindow& window = sequence.drafting.features;
  const int32_t end = std::min(window.end() + 1, sequence.context.root());
  for (SequenceDrafter& drafter : sequence.drafting.drafters) {
    if (!awaits_features(sequence, drafter)) continue;
    if (window.begin() <= lacks_from(drafter) && drafter.holds < end) advance(sequence, drafter, end, effects);
  }
  keep_features(sequence);
}

}  // namespace slipstream
