// slipstream serve: router, verifier and drafter on this machine until a signal ends them.
#pragma once

#include "common/base/result.h"
#include "tools/slipstream/fleet.h"

namespace slipstream::command {

// The model folder as given, or where the build tree that made this program keeps it. Error: what is missing, and the next
// step.
Result<std::filesystem::path> find_model(const std::filesystem::path& model);

Result<void> serve(FleetOptions options, StopSignal& stop);

}  // namespace slipstream::command
