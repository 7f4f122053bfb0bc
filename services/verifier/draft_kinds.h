// The table of kinds of drafters by which a verifier counts: which kind has which place. Pure.
//
// A place is kept for as long as its kind may come up again. Where all are taken, a new kind gets
// the place of one that is gone, whose counts go on as part of those of the kind "other": so a
// drafter that was renamed often is still counted by its name, no sum changes, and there are never
// more than kDraftKindsMax names and "other".
#pragma once

#include <functional>

#include "services/verifier/counters.h"

namespace slipstream {

// The place of this kind in counters.draft_kinds; the next free one if it is met for the first
// time; that of kOtherKind if there is none. stays: whether a drafter of that kind is known, or the
// kind drafts in this process; one that holds nodes stays in any case.
KindIndex place_of_kind(VerifierCounters& counters, const DraftKind& kind, const std::function<bool(const DraftKind&)>& stays);

}  // namespace slipstream
