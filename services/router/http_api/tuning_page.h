// Shows how far drafters guess and why: as text for the page at /, and as JSON at /tuning.
#pragma once

#include <string>

#include "services/router/counters.h"

namespace slipstream {

// Lines that end in a line break; empty: nothing is tuned.
std::string tuning_table(const TuningFacts& tuning);

// {"first_threshold": h, "changes": n, "kinds": [{"method", "model", "threshold", "version",
//  "reason", "why" (the reason as a sentence), ..., "depths": [...], "survivals": [...]}]}
std::string tuning_json(const TuningFacts& tuning);

}  // namespace slipstream
