// The command lines of `slipstream serve`, `slipstream demo` and `slipstream doctor`. They take
// flags, the environment and a file as the services do (common/config/command_line.h).
#pragma once

#include <vector>

#include "common/config/settings.h"
#include "tools/slipstream/commands.h"
#include "tools/slipstream/completion/words.h"
#include "tools/slipstream/doctor/doctor.h"

namespace slipstream::command {

// argv[0] is the subcommand. Variables that are settings of the subcommand are removed from the
// environment, so that the services get them as flags only; they read any other SLIPSTREAM_
// variable themselves. REQUIRES: no other thread has started.
Parsed<FleetOptions> parse_serve_options(int argc, const char* const* argv);
Parsed<DemoOptions> parse_demo_options(int argc, const char* const* argv);
Parsed<doctor::DoctorOptions> parse_doctor_options(int argc, const char* const* argv);

// The names and flags of these three commands, for a shell's completion.
std::vector<completion::CommandWords> fleet_command_words();

}  // namespace slipstream::command
