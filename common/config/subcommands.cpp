#include "common/config/subcommands.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/config/misspelling.h"
#include "common/config/settings.h"

namespace slipstream {
namespace {

// REQUIRES: there is an argument that nothing accepts.
int explain(const CLI::App& app, std::string_view program) {
  const CLI::App* given = &app;
  while (!given->get_subcommands().empty()) given = given->get_subcommands().front();
  std::vector<std::string> flags, commands, words = app.remaining(true);
  for (const CLI::Option* option : given->get_options()) flags.push_back(option->get_single_name());
  for (const CLI::App* command : given->get_subcommands(nullptr)) commands.push_back(command->get_name());
  if (!commands.empty() && !words.front().starts_with("-")) {
    fmt::print(stderr, "{}: {}\n", program, explain_command(words.front(), commands));
    return kExitUsage;
  }
  for (const std::string& sentence : explain_strays(words, flags)) fmt::print(stderr, "{}: {}\n", program, sentence);
  fmt::print(stderr, "Run with --help for every command, and for every option of one.\n");
  return kExitUsage;
}

}  // namespace

std::optional<int> parse_subcommand(CLI::App& app, int argc, char** argv, std::string_view program) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ExtrasError&) {
    return explain(app, program);
    // CLI11 reports a missing argument before it reports arguments that nothing accepts; the latter
    // may be the cause.
  } catch (const CLI::RequiredError& error) {
    if (!app.remaining(true).empty()) return explain(app, program);
    app.exit(error);
    return kExitUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
}

CLI::Validator number_between(double least, double most) {
  const auto no_number = [](const std::string& given) {
    return std::isnan(std::strtod(given.c_str(), nullptr)) ? fmt::format("{} is no number", given) : std::string();
  };
  return CLI::Range(least, most) & CLI::Validator(no_number, "");
}

}  // namespace slipstream
