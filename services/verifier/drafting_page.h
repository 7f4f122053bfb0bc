// What the verifier's page says about drafting: what a node costs, what each kind of drafter gains,
// and why it is or is not asked. The same numbers are metrics (docs/use/METRICS.md).
#pragma once

#include <string>

#include "services/verifier/counters.h"

namespace slipstream {

// Lines of text, each ended.
std::string drafting_page(const VerifierCounters& counters);

}  // namespace slipstream
