// What the verifier's log says when it is told to stop, and when it has.
#pragma once

#include <chrono>
#include <string>

#include "services/verifier/counters.h"

namespace slipstream {

// Before it says so to anybody: the sequences that it has.
std::string told_to_stop(const VerifierCounters& now, std::chrono::milliseconds grace);
// What became of them. told: as then.
std::string stopped(const VerifierCounters& told, const VerifierCounters& now);

}  // namespace slipstream
