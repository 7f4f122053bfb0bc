// The command line of `slipstream load`.
#pragma once

#include <CLI/App.hpp>

#include "tools/slipstream/load/load.h"

namespace slipstream::command::load {

// Adds the subcommand, which fills `options` when it is parsed. REQUIRES: options outlive the app.
CLI::App* load_flags(CLI::App& app, LoadOptions& options);

}  // namespace slipstream::command::load
