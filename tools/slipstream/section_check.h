// Whether the sections of a file of settings, [router], [verifier] and [drafter], are what these
// services take, before anything starts.
#pragma once

#include <string>
#include <vector>

#include "common/config/command_line.h"
#include "tools/slipstream/fleet_plan.h"

namespace slipstream::command {

// A sentence for each wrong setting, with its line:
//   1. a name that the service does not have, or a value that its type or range does not allow;
//   2. if there is none, what `serve` sets for that service anyway;
//   3. if there is none, what the service would refuse, beside what `serve` gives it.
//
// line: has read the file. REQUIRES: http_endpoint() gives no error.
std::vector<std::string> section_problems(const FleetOptions& options, const CommandLine& line);

}  // namespace slipstream::command
