// slipstream completion: a script that makes a shell complete the commands and flags of a program.
//
//   source <(slipstream completion bash)
//   slipstream completion zsh > "${fpath[1]}/_slipstream"
//   slipstream completion fish | source
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "tools/slipstream/completion/words.h"

namespace slipstream::command::completion {

// Adds the subcommand, which fills `shell` when it is parsed. REQUIRES: shell outlives the app.
CLI::App* completion_flags(CLI::App& app, std::string& shell);

// shell: "bash", "zsh" or "fish". Pure.
std::string script(const CommandWords& words, const std::string& shell);

}  // namespace slipstream::command::completion
