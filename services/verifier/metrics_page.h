// The verifier's own metrics, as lines of its /metrics page (docs/use/METRICS.md).
#pragma once

#include <cstddef>

#include "common/metrics/exposition.h"
#include "common/model/load_report.h"
#include "services/verifier/counters.h"

namespace slipstream {

// The bins of up to kFewKinds kinds of drafters are told, 78 lines each; of more kinds those of
// kBinnedOfMany, and the page stays below 64 KiB.
inline constexpr size_t kFewKinds = 4, kBinnedOfMany = 2;

// The verifier's own facts, added to one page of /metrics.
void add_verifier_metrics(const VerifierCounters& counters, Exposition& page);
// What its start took.
void add_load_metrics(const LoadReport& load, Exposition& page);

}  // namespace slipstream
