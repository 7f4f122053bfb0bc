// The command lines of `slipstream serve` and `slipstream demo`. Both take flags, the environment
// and a file as the services do (common/config/command_line.h).
#pragma once

#include "common/config/settings.h"
#include "tools/slipstream/commands.h"

namespace slipstream::command {

// argv[0] is the subcommand. Variables that are settings of the subcommand are removed from the
// environment, so that the services get them as flags only; they read any other SLIPSTREAM_
// variable themselves. REQUIRES: no other thread has started.
Parsed<FleetOptions> parse_serve_options(int argc, const char* const* argv);
Parsed<DemoOptions> parse_demo_options(int argc, const char* const* argv);

}  // namespace slipstream::command
