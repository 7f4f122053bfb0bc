#include "services/verifier/draft_kinds.h"

#include <algorithm>

namespace slipstream {
namespace {

size_t find(const VerifierCounters& counters, const DraftKind& kind) {
  const auto& kinds = counters.draft_kinds;
  return static_cast<size_t>(std::ranges::find(kinds, kind, &DraftKindCounters::kind) - kinds.begin());
}

// What only grows; gauges are of drafters that are there.
void add(DraftKindCounters& to, const DraftKindCounters& from) {
  to.reliability.add(from.reliability);
  to.by_survival.add(from.by_survival);
  for (size_t range = 0; range < to.by_depth.size(); ++range) to.by_depth[range].add(from.by_depth[range]);
  for (size_t ask = 0; ask < kRoundAsks; ++ask) to.rounds[ask] += from.rounds[ask];
  to.waited_seconds += from.waited_seconds;
  to.missed_deadlines += from.missed_deadlines;
  to.met_deadlines += from.met_deadlines;
  to.rounds_verified += from.rounds_verified;
  to.parked += from.parked;
  to.parked_used += from.parked_used;
}

}  // namespace

KindIndex place_of_kind(VerifierCounters& counters, const DraftKind& kind, const std::function<bool(const DraftKind&)>& stays) {
  std::vector<DraftKindCounters>& kinds = counters.draft_kinds;
  const auto added = [&](const DraftKind& new_kind) {
    kinds.push_back({.kind = new_kind});
    return static_cast<KindIndex>(kinds.size() - 1);
  };
  if (const size_t at = find(counters, kind); at < kinds.size()) return static_cast<KindIndex>(at);
  if (kinds.size() < kDraftKindsMax) return added(kind);
  const size_t known = find(counters, kOtherKind);
  const KindIndex other = known < kinds.size() ? static_cast<KindIndex>(known) : added(kOtherKind);
  if (kind == kOtherKind) return other;
  for (KindIndex place = 0; place < kinds.size(); ++place) {
    if (place == other || counters.fates.of(place, Fate::held) > 0 || stays(kinds[place].kind)) continue;
    add(kinds[other], kinds[place]);
    counters.fates.move(place, other);
    kinds[place] = {.kind = kind};
    return place;
  }
  return other;
}

}  // namespace slipstream
