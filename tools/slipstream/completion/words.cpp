#include "tools/slipstream/completion/words.h"

namespace slipstream::command::completion {
namespace {

// CLI::IsMember writes its words into the name of the option's type: "TEXT:{bash,zsh}".
std::vector<std::string> members(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == type.npos || close == type.npos || close < open) return words;
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(type.find(',', at), close);
    words.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

FlagWords flag_of(const CLI::Option& option, const std::string& name, const Choices& choices) {
  FlagWords flag{.name = "--" + name, .help = option.get_description(), .takes_value = option.get_expected_max() > 0};
  flag.choices = members(option.get_type_name());
  if (flag.choices.empty() && choices) flag.choices = choices(flag.name);
  return flag;
}

}  // namespace

CommandWords words_of(const CLI::App& app, const Choices& choices) {
  CommandWords words{.name = app.get_name(), .help = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.flags.push_back(flag_of(*option, name, choices));
    if (option->get_positional()) words.arguments = members(option->get_type_name());
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    words.commands.push_back(words_of(*command, choices));
  }
  return words;
}

}  // namespace slipstream::command::completion
