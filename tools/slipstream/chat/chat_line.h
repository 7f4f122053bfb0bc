// What a line of a chat means: a question, or a command such as "/seed 7". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/result.h"

namespace slipstream::command::chat {

enum class Verb : uint8_t { system, seed, temperature, drafter, retry, save, replace, clear, help, quit };

struct ChatCommand {
  Verb verb = Verb::help;
  std::string argument;  // without blanks around it; "": none
};

// A line that begins with '/' is a command, and any other one is a question; so is "//...", which
// is asked with one '/'. Errors: there is no such command (the sentence names the nearest one), or
// its argument is missing or is one too many.
using ChatLine = std::variant<std::string, ChatCommand>;
Result<ChatLine> read_chat_line(std::string_view line);

// The arguments of commands. Errors say what is allowed.
Result<std::optional<int64_t>> read_seed(std::string_view text);  // nullopt for "none": a random one
Result<float> read_temperature(std::string_view text);            // 0 .. 2
Result<bool> read_switch(std::string_view text);                  // on or off

std::string chat_help();  // a line for each command

}  // namespace slipstream::command::chat
