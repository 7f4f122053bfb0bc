// The command line of a program with subcommands (`slipstream`, `slipstream-train`), on top of
// CLI11. Services, whose settings may also come by file and environment, use command_line.h.
#pragma once

#include <optional>
#include <string_view>

#include <CLI/App.hpp>

namespace slipstream {

// Parses. Returns the exit status, or nullopt if there is a command to run. Arguments that nothing
// accepts are explained on stderr, with the names of the commands and the flags of the given one.
// program: the name that begins each line.
std::optional<int> parse_subcommand(CLI::App& app, int argc, char** argv, std::string_view program);

// A number in this range. (CLI::Range alone accepts nan, which is neither below nor above its
// limits.)
CLI::Validator number_between(double least, double most);

}  // namespace slipstream
