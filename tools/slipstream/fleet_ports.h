// Whether the addresses that a fleet listens at are free, before anything starts.
#pragma once

#include <string>

#include "common/base/result.h"
#include "tools/slipstream/fleet_plan.h"

namespace slipstream::command {

// Tries the HTTP API's address and those of the workers' pages. Error: a sentence that says which
// flag to change.
Result<void> check_ports(const FleetOptions& options);

// Whether a name or an address is one of this machine. A name is looked up, which may take as long
// as the system's resolver tries.
bool is_this_machine(const std::string& host);

}  // namespace slipstream::command
