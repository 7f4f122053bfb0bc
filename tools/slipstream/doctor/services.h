// Checks of what `slipstream serve` would start: the programs, their settings, their ports and
// their keys.
#pragma once

#include <string>
#include <string_view>

#include "tools/slipstream/doctor/finding.h"
#include "tools/slipstream/fleet_plan.h"

namespace slipstream::command::doctor {

// Runs each program with --check-config and the flags that `serve` would give it, so that it is the
// service itself that judges them (API keys and certificate as well).
void check_settings(const FleetPlan& plan, Findings& findings);

// Runs the verifier, and a drafter that has a model, with --check-load, on the device that they
// would have. It takes as long as their load, and as much memory for that time. REQUIRES: their
// settings are right.
void check_loads(const FleetPlan& plan, Findings& findings);

// taken_by_ours: the HTTP port is that of the running server which was looked at.
Finding check_ports_free(const FleetOptions& options, bool taken_by_ours);

// The key of each service, and the keys enrolled. REQUIRES: options.keys is given.
void check_keys(const FleetOptions& options, Findings& findings);

// The sentences in what `slipstream-verifier --check-config` has printed, without its name. Pure.
std::string problems_in(std::string_view printed, std::string_view program);

}  // namespace slipstream::command::doctor
