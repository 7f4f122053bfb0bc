#include "tools/slipstream/chat/chat_line.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "common/config/misspelling.h"

namespace slipstream::command::chat {
namespace {

constexpr float kTemperatureMax = 2;
constexpr std::string_view kBlanks = " \t\r";

enum class Argument : uint8_t { none, may, must };

struct Known {
  std::string_view name;
  Verb verb;
  Argument argument;
  std::string_view shown, help;
};
constexpr Known kKnown[] = {
    {"/system", Verb::system, Argument::may, "TEXT", "how the model shall answer from now on; without a text: as it likes"},
    {"/seed", Verb::seed, Argument::must, "N", "equal seeds give equal words; none: a random one for each answer"},
    {"/temperature", Verb::temperature, Argument::must, "T", "0: always the likeliest word; up to 2"},
    {"/drafter", Verb::drafter, Argument::must, "on|off", "speculation: the same words, faster or plainly"},
    {"/retry", Verb::retry, Argument::none, "", "drops the last answer and asks again, with another seed if it was sampled"},
    {"/save", Verb::save, Argument::must, "FILE", "writes the chat as Markdown (.md) or JSON (.json); not over a file"},
    {"/save!", Verb::replace, Argument::must, "FILE", "the same, over a file that is there"},
    {"/clear", Verb::clear, Argument::none, "", "forgets the chat so far, but not the system message"},
    {"/help", Verb::help, Argument::none, "", "shows this"},
    {"/quit", Verb::quit, Argument::none, "", "ends, as Ctrl-D does"},
};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string unknown(std::string_view name) {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  const auto meant = nearest_name(name, names);
  return fmt::format("there is no command {}; {} (A question that begins with / is asked as //...)", name,
                     meant ? fmt::format("did you mean {}?", *meant) : "/help shows all.");
}

Result<ChatCommand> read_command(std::string_view line) {
  const std::string_view name = line.substr(0, line.find_first_of(kBlanks));
  const std::string_view argument = trimmed(line.substr(name.size()));
  const auto known = std::ranges::find(kKnown, name, &Known::name);
  if (known == std::end(kKnown)) return fail("{}", unknown(name));
  if (known->argument == Argument::must && argument.empty()) return fail("{} needs more: {} {}", name, name, known->shown);
  if (known->argument == Argument::none && !argument.empty()) return fail("{} stands alone, without \"{}\"", name, argument);
  return ChatCommand{known->verb, std::string(argument)};
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<ChatLine> read_chat_line(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("//")) return ChatLine(std::string(line.substr(1)));
  if (!line.starts_with('/')) return ChatLine(std::string(line));
  TRY(ChatCommand command, read_command(line));
  return ChatLine(std::move(command));
}

Result<std::optional<int64_t>> read_seed(std::string_view text) {
  if (text == "none") return std::optional<int64_t>();
  if (const auto seed = number<int64_t>(text)) return seed;
  return fail("\"{}\" is no seed; write a whole number, or none", text);
}

// Written so that nan is refused, too.
Result<float> read_temperature(std::string_view text) {
  const auto temperature = number<float>(text);
  if (temperature && *temperature >= 0 && *temperature <= kTemperatureMax) return *temperature;
  return fail("\"{}\" is no temperature; write a number from 0 to {:g}", text, kTemperatureMax);
}

Result<bool> read_switch(std::string_view text) {
  if (text == "on" || text == "off") return text == "on";
  return fail("\"{}\" is neither on nor off", text);
}

std::string chat_help() {
  std::string text;
  for (const Known& known : kKnown)
    text += fmt::format("{:<20} {}\n", fmt::format("{} {}", known.name, known.shown), known.help);
  return text + fmt::format("{:<20} {}\n", "Ctrl-C",
                            "stops an answer; twice at the prompt: ends; Ctrl-Z there: stops the chat until fg");
}

}  // namespace slipstream::command::chat
