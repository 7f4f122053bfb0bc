#include "common/config/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <fmt/ranges.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "common/base/build_info.h"

namespace slipstream {
namespace {

constexpr size_t kHelpColumn = 34;

ExitCode explain(const std::string& service, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) std::cerr << service << ": " << problem << '\n';
  std::cerr << "Run with --help for every option and its default, or --check-config to see what was understood.\n";
  return {kExitUsage};
}

}  // namespace

std::string environment_name(std::string_view setting) {
  std::string name = "SLIPSTREAM_";
  for (char c : setting) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

CommandLine::CommandLine(std::string service, std::string purpose) : app_(std::move(purpose), service), service_(service) {
  app_.get_formatter()->column_width(kHelpColumn);
  app_.set_help_flag("-h,--help", "Print this and exit");
  app_.add_flag("--version", version_, "Print the version and exit");
  app_.add_flag("--check-config", check_, "Print the settings in force and where each came from; exit 0, or 2 with the errors");
  app_.add_option("--config", file_, "Settings from a TOML or INI file: deadline-us = 3000")->type_name("FILE");
  app_.footer(
      "Order: flags, then environment, then file, then default. The environment names --deadline-us SLIPSTREAM_DEADLINE_US.");
}

void CommandLine::option(const std::string& flag, std::vector<std::string>& values, const std::string& help) {
  add(app_.add_option(flag, values, help)
          ->allow_extra_args(false)
          ->type_name("TEXT")
          ->default_str(fmt::format("{}", fmt::join(values, ","))));
}

void CommandLine::add(CLI::Option* option) { settings_.push_back({option, option->get_single_name()}); }

std::optional<ExitCode> CommandLine::parse(int argc, const char* const* argv,
                                           const std::function<std::vector<std::string>()>& validate) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return ExitCode{app_.exit(help, std::cout, std::cerr)};
  } catch (const CLI::ParseError& error) {
    return explain(service_, {std::string(error.what())});
  }
  if (version_) {
    std::cout << service_ << ' ' << build_summary() << '\n';
    return ExitCode{0};
  }
  const std::vector<std::string> problems = resolve(validate);
  if (check_) std::cout << table();
  if (!problems.empty()) return explain(service_, problems);
  if (check_) return ExitCode{0};
  return std::nullopt;
}

std::vector<std::string> CommandLine::resolve(const std::function<std::vector<std::string>()>& validate) {
  std::vector<std::string> problems;
  for (Setting& setting : settings_) {
    if (setting.option->count() > 0) setting.from = "flag";
  }
  for (const auto& read : {read_environment(), read_file()}) {
    if (!read) problems.push_back(read.error().message);
  }
  std::ranges::move(validate(), std::back_inserter(problems));
  return problems;
}

Result<void> CommandLine::read_environment() {
  if (const char* file = std::getenv("SLIPSTREAM_CONFIG"); file != nullptr && file_.empty()) file_ = file;
  for (Setting& setting : settings_) {
    const std::string variable = environment_name(setting.name);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0' || setting.option->count() > 0) continue;
    const bool many = setting.option->get_expected_max() > 1;
    TRY_VOID(set(setting, many ? CLI::detail::split(value, ',') : std::vector<std::string>{value}, variable));
  }
  return {};
}

Result<void> CommandLine::read_file() {
  if (file_.empty()) return {};
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(file_);
  } catch (const CLI::Error& error) {
    return fail("--config {}: {}; name a readable TOML or INI file", file_, error.what());
  }
  for (const CLI::ConfigItem& item : items) {
    const auto setting = std::ranges::find(settings_, item.name, &Setting::name);
    if (!item.parents.empty() || setting == settings_.end()) {
      return fail("--config {}: there is no setting \"{}\"; the names are those of the flags without the dashes", file_,
                  item.fullname());
    }
    if (setting->from != "default") continue;  // a flag or the environment said it
    TRY_VOID(set(*setting, item.inputs, file_));
  }
  return {};
}

Result<void> CommandLine::set(Setting& setting, const std::vector<std::string>& values, const std::string& from) {
  try {
    setting.option->add_result(values);
    setting.option->run_callback();
  } catch (const CLI::Error& error) {
    return fail("{}: {}", from, error.what());
  }
  setting.from = from;
  return {};
}

std::string CommandLine::table() const {
  std::string text;
  for (const Setting& setting : settings_) {
    const std::string value = setting.option->count() > 0 ? fmt::format("{}", fmt::join(setting.option->results(), ","))
                                                          : setting.option->get_default_str();
    text += fmt::format("{:<14} {:<40} {}\n", setting.name, value.empty() ? "(none)" : value, setting.from);
  }
  return text;
}

}  // namespace slipstream
