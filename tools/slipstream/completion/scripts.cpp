#include "tools/slipstream/completion/scripts.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipstream::command::completion {
namespace {

constexpr std::string_view kProgram = "slipstream";
constexpr std::string_view kBash = "bash", kZsh = "zsh", kFish = "fish";

constexpr std::string_view kBashHead = R"(# bash completion of slipstream: source <(slipstream completion bash)
_slipstream() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command="" words="" i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
  done
)";
constexpr std::string_view kBashTail = R"(  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ ${#COMPREPLY[@]} == 0 && $word != -* && -n $command ]]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _slipstream slipstream
)";

// What may stand at any place of a command: its flags, its subcommands, its words.
std::string words_of_place(const CommandWords& command) {
  std::vector<std::string> words;
  for (const FlagWords& flag : command.flags) words.push_back(flag.name);
  for (const CommandWords& below : command.commands) words.push_back(below.name);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_values(const CommandWords& root) {
  std::string text = "  case \"$command $before\" in\n";
  for (const CommandWords& command : root.commands) {
    for (const FlagWords& flag : command.flags) {
      if (flag.choices.empty()) continue;
      text += fmt::format("    \"{} {}\") COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", command.name, flag.name,
                          fmt::join(flag.choices, " "));
    }
  }
  return text + "  esac\n";
}

std::string bash_script(const CommandWords& root) {
  std::string text(kBashHead);
  text += bash_values(root) + "  case $command in\n";
  text += fmt::format("    \"\") words=\"{}\" ;;\n", words_of_place(root));
  for (const CommandWords& command : root.commands) {
    text += fmt::format("    {}) words=\"{}\" ;;\n", command.name, words_of_place(command));
  }
  return text + "  esac\n" + std::string(kBashTail);
}

// Within single quotes and zsh's own brackets.
std::string zsh_words(std::string_view help) {
  std::string text;
  for (const char c : help) {
    if (c == '\'') {
      text += R"('\'')";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      text += fmt::format("\\{}", c);
    } else {
      text += c;
    }
  }
  return text;
}

std::string zsh_flag(const FlagWords& flag) {
  const std::string value = !flag.takes_value      ? ""
                            : flag.choices.empty() ? ":value:_files"
                                                   : fmt::format(":value:({})", fmt::join(flag.choices, " "));
  return fmt::format("'{}[{}]{}'", flag.name, zsh_words(flag.help), value);
}

std::string zsh_command(const CommandWords& command) {
  std::string text = fmt::format("    {}) _arguments", command.name);
  for (const FlagWords& flag : command.flags) text += fmt::format(" \\\n      {}", zsh_flag(flag));
  std::vector<std::string> words = command.arguments;
  for (const CommandWords& below : command.commands) words.push_back(below.name);
  const std::string rest = words.empty() ? "_files" : fmt::format("({})", fmt::join(words, " "));
  return text + fmt::format(" \\\n      '*:argument:{}' ;;\n", rest);
}

std::string zsh_script(const CommandWords& root) {
  std::string text = fmt::format("#compdef {0}\n_{0}() {{\n  local -a commands\n  commands=(\n", kProgram);
  for (const CommandWords& command : root.commands) {
    text += fmt::format("    '{}:{}'\n", command.name, zsh_words(command.help));
  }
  text += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n";
  text += "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandWords& command : root.commands) text += zsh_command(command);
  return text +
         fmt::format("  esac\n}}\nif [[ $funcstack[1] == _{0} ]]; then _{0} \"$@\"; else compdef _{0} {0}; fi\n", kProgram);
}

// Within single quotes of fish.
std::string fish_words(std::string_view help) {
  std::string text;
  for (const char c : help) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

// One rule: `offer` is there once `command` was typed; empty: before any command.
std::string fish_rule(std::string_view command, std::string_view offer, std::string_view help) {
  const std::string when = command.empty() ? "__fish_use_subcommand" : fmt::format("__fish_seen_subcommand_from {}", command);
  return fmt::format("complete -c {} -n '{}' {} -d '{}'\n", kProgram, when, offer, fish_words(help));
}

std::string fish_flag(const FlagWords& flag) {
  const std::string name = fmt::format("-l {}", flag.name.substr(2));
  if (!flag.takes_value) return name;
  return flag.choices.empty() ? name + " -r -F" : fmt::format("{} -x -a '{}'", name, fmt::join(flag.choices, " "));
}

std::string fish_command(const CommandWords& command) {
  std::string text = fish_rule("", "-a " + command.name, command.help);
  for (const FlagWords& flag : command.flags) text += fish_rule(command.name, fish_flag(flag), flag.help);
  for (const CommandWords& below : command.commands) text += fish_rule(command.name, "-a " + below.name, below.help);
  for (const std::string& word : command.arguments) text += fish_rule(command.name, "-a " + word, "");
  return text;
}

std::string fish_script(const CommandWords& root) {
  std::string text = fmt::format("# fish completion of {0}: {0} completion fish | source\ncomplete -c {0} -f\n", kProgram);
  for (const FlagWords& flag : root.flags) text += fish_rule("", fish_flag(flag), flag.help);
  for (const CommandWords& command : root.commands) text += fish_command(command);
  return text;
}

}  // namespace

CLI::App* completion_flags(CLI::App& app, std::string& shell) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script with which bash, zsh or fish completes these commands");
  completion->add_option("shell", shell, "bash: source <(slipstream completion bash); or zsh, or fish")
      ->required()
      ->check(CLI::IsMember({std::string(kBash), std::string(kZsh), std::string(kFish)}));
  return completion;
}

std::string script(const CommandWords& words, const std::string& shell) {
  if (shell == kFish) return fish_script(words);
  return shell == kBash ? bash_script(words) : zsh_script(words);
}

}  // namespace slipstream::command::completion
