// The command lines of the subcommands that have no folder of their own, and of verify-lossless.
// Each function adds a subcommand, which fills `options` when it is parsed. REQUIRES: options
// outlive the app.
#pragma once

#include <CLI/App.hpp>

#include "tools/slipstream/commands.h"
#include "tools/slipstream/verify/verify_lossless.h"

namespace slipstream::command {

CLI::App* ask_flags(CLI::App& app, AskOptions& options);
CLI::App* new_keys_flags(CLI::App& app, KeysOptions& options);
CLI::App* corpus_flags(CLI::App& app, CorpusOptions& options);
CLI::App* verify_flags(CLI::App& app, verify::VerifyOptions& options);

}  // namespace slipstream::command
