#pragma once

#include "common/metrics/exposition.h"
#include "services/verifier/counters.h"

namespace slipstream {

// The verifier's own facts, added to one page of /metrics.
void add_verifier_metrics(const VerifierCounters& counters, Exposition& page);

}  // namespace slipstream
