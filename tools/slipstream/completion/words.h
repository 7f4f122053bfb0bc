// The words of a command line: subcommands, flags, and the values that a flag may have, as a
// shell's completion needs them. They come from the table that parses the command line, so that the
// two cannot differ.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

namespace slipstream::command::completion {

struct FlagWords {
  std::string name;  // "--url"
  std::string help;
  bool takes_value = false;
  std::vector<std::string> choices;  // of its value; empty: any
};

struct CommandWords {
  std::string name, help;
  std::vector<FlagWords> flags;
  std::vector<std::string> arguments;  // that stand alone, where only certain ones may
  std::vector<CommandWords> commands;
};

// choices: the values of a flag that the app itself does not know; those of CLI::IsMember it does.
using Choices = std::function<std::vector<std::string>(std::string_view flag)>;
CommandWords words_of(const CLI::App& app, const Choices& choices = {});

}  // namespace slipstream::command::completion
