#include "common/config/command_line.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>

#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "common/base/build_info.h"
#include "common/base/log.h"

namespace slipstream {
namespace {

constexpr size_t kHelpColumn = 34;

// Flags that are no setting of a file.
bool is_flag_only(std::string_view name) {
  constexpr std::string_view kNames[] = {"help", "version", "check-config", "check-load", "config"};
  return std::ranges::find(kNames, name) != std::end(kNames);
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

void CommandLine::flag(const std::string& flag, bool& value, const std::string& help) { add(app_.add_flag(flag, value, help)); }

// CLI11 gets no number to fill: read_number() parses the text when all sources were read, because
// its error names the source.
void CommandLine::option(const std::string& flag, uint32_t& value, Range range, const std::string& help) {
  add_number(flag, std::to_string(value), {[&value](uint32_t number) { value = number; }, range}, help);
}

void CommandLine::option(const std::string& flag, std::optional<uint32_t>& value, Range range, const std::string& help) {
  add_number(flag, value ? std::to_string(*value) : "", {[&value](uint32_t number) { value = number; }, range}, help);
}

void CommandLine::option(const std::string& flag, std::string& value, std::span<const std::string> choices,
                         const std::string& help) {
  const std::vector<std::string> known(choices.begin(), choices.end());
  add(app_.add_option(flag, value, fmt::format("{}: {}", help, fmt::join(known, ", ")))->capture_default_str());
  choices_.push_back({flag, &value, known});
}

void CommandLine::log_format(std::string& value, const std::string& help) {
  option("--log-format", value, std::vector<std::string>(kLogFormatNames.begin(), kLogFormatNames.end()), help);
  log_format_ = &value;
}

void CommandLine::section(const std::string& name, std::vector<std::string>& flags, std::vector<std::string> known) {
  sections_[name] = &flags;
  std::erase_if(known, is_flag_only);
  section_flags_.push_back({name, std::move(known)});
}

void CommandLine::add_number(const std::string& flag, const std::string& shown, Number number, const std::string& help) {
  add(app_.add_option(flag, CLI::callback_t{}, help)->type_name("UINT")->default_str(shown), std::move(number));
}

void CommandLine::add(CLI::Option* option, std::optional<Number> number) {
  settings_.push_back({option, option->get_single_name(), std::move(number)});
}

void CommandLine::forget_environment() const {
  ::unsetenv(environment_name("config").c_str());
  for (const Setting& setting : settings_) ::unsetenv(environment_name(setting.name).c_str());
}

std::vector<std::string> CommandLine::choices_of(std::string_view flag) const {
  const auto choice = std::ranges::find(choices_, flag, &Choice::flag);
  return choice == choices_.end() ? std::vector<std::string>{} : choice->known;
}

void CommandLine::tell(std::string_view level, std::string_view sentence) const {
  if (tells_json()) {
    const std::string_view service = service_;
    std::cerr << json_line({.time = std::chrono::system_clock::now(),
                            .level = level,
                            .service = service.substr(service.find_first_of("- ") + 1),
                            .message = sentence})
              << '\n';
  } else {
    std::cerr << service_ << ": " << sentence << '\n';
  }
}

void CommandLine::warn(std::string_view sentence) const { tell("warning", sentence); }

bool CommandLine::tells_json() const { return log_format_ != nullptr && log_format_from(*log_format_) == LogFormat::json; }

ExitCode CommandLine::explain(const std::vector<std::string>& problems) const {
  for (const std::string& problem : problems) tell("error", problem);
  if (!tells_json()) {
    std::cerr << kHelpHint << " for every option and its default, or --check-config to see what was understood.\n";
  }
  return {kExitUsage};
}

std::optional<ExitCode> CommandLine::parse(int argc, const char* const* argv, const Validate& validate) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return ExitCode{app_.exit(help, std::cout, std::cerr)};
  } catch (const CLI::ExtrasError&) {
    return explain(explain_strays(app_.remaining(), names(), section_flags_));
  } catch (const CLI::ParseError& error) {
    return explain({std::string(error.what())});
  }
  if (version_) {
    std::cout << service_ << ' ' << build_summary() << '\n';
    return ExitCode{0};
  }
  const std::vector<std::string> problems = resolve(validate);
  // --check-config prints the table even if there are problems, since it helps to find them.
  if (check_) std::cout << table();
  if (!problems.empty()) return explain(problems);
  if (check_) return ExitCode{0};
  return std::nullopt;
}

std::vector<std::string> CommandLine::problems_of(const std::vector<std::string>& arguments, const Validate& validate) {
  std::vector<const char*> argv{service_.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  try {
    app_.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::ExtrasError&) {
    return explain_strays(app_.remaining(), names());
  } catch (const CLI::ParseError& error) {
    return {std::string(error.what())};
  }
  for (Setting& setting : settings_) {
    if (setting.option->count() > 0) setting.from = "flag";
  }
  return problems(validate);
}

std::vector<std::string> CommandLine::resolve(const Validate& validate) {
  std::vector<std::string> problems;
  // The order matters: each source skips the settings that a source before it has set.
  for (Setting& setting : settings_) {
    if (setting.option->count() > 0) setting.from = "flag";
  }
  for (const auto& read : {read_environment(), read_file()}) {
    if (!read) problems.push_back(read.error().message);
  }
  warn_of_misspelt_variables();
  std::ranges::move(this->problems(validate), std::back_inserter(problems));
  return problems;
}

std::vector<std::string> CommandLine::problems(const Validate& validate) const {
  std::vector<std::string> problems;
  for (const Setting& setting : settings_) {
    if (const auto read = read_number(setting); !read) problems.push_back(read.error().message);
  }
  for (const Choice& choice : choices_) {
    if (std::ranges::find(choice.known, *choice.value) != choice.known.end()) continue;
    problems.push_back(
        fmt::format("{} \"{}\" is not known; choose one of: {}", choice.flag, *choice.value, fmt::join(choice.known, ", ")));
  }
  std::ranges::move(validate(), std::back_inserter(problems));
  return problems;
}

std::string CommandLine::place_of(std::string_view section, std::string_view name) const {
  const auto line = line_of(section, name);
  return line ? fmt::format("{}, line {}", file_, line->number) : file_;
}

std::optional<SettingLine> CommandLine::line_of(std::string_view section, std::string_view name) const {
  std::ifstream file(file_);
  return line_of_setting(file, section, name);
}

Result<void> CommandLine::read_environment() {
  if (const char* file = std::getenv("SLIPSTREAM_CONFIG"); file != nullptr && file_.empty()) file_ = file;
  for (Setting& setting : settings_) {
    const std::string variable = environment_name(setting.name);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0' || setting.option->count() > 0) continue;
    // Only a list is split: a comma may be part of any other value, as in --rules.
    const bool many = setting.option->get_expected_max() > 1;
    TRY_VOID(set(setting, many ? CLI::detail::split(value, ',') : std::vector<std::string>{value}, variable));
  }
  return {};
}

// Warns of variables that look like a misspelt setting. Other SLIPSTREAM_ variables may belong to
// another service, so they get no warning.
void CommandLine::warn_of_misspelt_variables() const {
  constexpr std::string_view kPrefix = "SLIPSTREAM_";
  std::vector<std::string> known{environment_name("config")};
  for (const Setting& setting : settings_) known.push_back(environment_name(setting.name));
  for (std::string& name : known) name.erase(0, kPrefix.size());
  const auto is_others = [&](std::string_view given) {
    return std::ranges::any_of(others_,
                               [&](const std::string& name) { return environment_name(name).substr(kPrefix.size()) == given; });
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view name(*entry);
    name = name.substr(0, name.find('='));
    if (!name.starts_with(kPrefix)) continue;
    const std::string_view given = name.substr(kPrefix.size());
    if (std::ranges::find(known, given) != known.end() || is_others(given)) continue;
    if (const auto meant = nearest_name(given, known)) {
      warn(fmt::format("{} is no setting and was ignored; did you mean {}{}?", name, kPrefix, *meant));
    }
  }
}

Result<void> CommandLine::read_file() {
  if (file_.empty()) return {};
  std::vector<CLI::ConfigItem> items;
  std::ifstream file(file_);
  if (!file || std::filesystem::is_directory(file_))
    return fail("--config {}: cannot be read; name a readable TOML or INI file", file_);
  std::istringstream settings(settings_text(file));
  try {
    items = CLI::ConfigTOML().from_config(settings);
  } catch (const CLI::Error& error) {
    return fail("--config {}: {}; name a readable TOML or INI file", file_, error.what());
  }
  for (const CLI::ConfigItem& item : items) {
    if (!sections_.empty() && (item.name == "++" || item.name == "--")) continue;  // a section begins, or ends
    const std::string parents = fmt::format("{}", fmt::join(item.parents, "."));
    const auto complain = [&](std::string_view what) { return fail("{}: {}", place_of(parents, item.name), what); };
    const auto line = line_of(parents, item.name);
    if (line && !line->has_value) return complain(fmt::format("{} has no value", item.fullname()));
    const auto section = item.parents.size() == 1 ? sections_.find(item.parents.front()) : sections_.end();
    if (section != sections_.end() && !is_flag_only(item.name)) {
      for (const std::string& value : item.inputs) section->second->push_back(fmt::format("--{}={}", item.name, value));
      continue;
    }
    const auto setting = std::ranges::find(settings_, item.name, &Setting::name);
    if (!item.parents.empty() || setting == settings_.end()) {
      std::vector<std::string> known = names();
      std::erase_if(known, is_flag_only);
      const auto meant = nearest_name(item.fullname(), known);
      return complain(
          fmt::format("there is no setting \"{}\"; {}", item.fullname(),
                      meant ? fmt::format("did you mean {}?", *meant) : "the names are those of the flags without the dashes"));
    }
    // CLI11 joins the values of a setting that comes twice in a row.
    const bool several = setting->option->get_expected_max() <= 1 && item.inputs.size() > 1;
    if (several || setting->from == file_) return complain(fmt::format("{} comes twice, or has several values", item.name));
    if (setting->from != "default") continue;  // a flag or the environment goes before the file
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

Result<void> CommandLine::read_number(const Setting& setting) const {
  if (!setting.number || setting.option->count() == 0) return {};
  const auto& [set, range] = *setting.number;
  const std::string text = setting.option->results().back();
  std::string name = "--" + setting.name;
  if (setting.from == environment_name(setting.name)) name = setting.from;
  if (setting.from == file_) name = fmt::format("{}: {}", place_of("", setting.name), setting.name);
  uint32_t number = 0;
  if (CLI::detail::lexical_cast(text, number) && range.has(number)) {
    set(number);
    return {};
  }
  const bool whole = text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) == text.npos && text != "-";
  return fail("{} {} is {}; choose {}", name, text, whole ? "out of range" : "no whole number", range.words());
}

std::vector<std::string> CommandLine::names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_.get_options()) names.push_back(option->get_single_name());
  return names;
}

std::string CommandLine::table() const {
  std::string text;
  for (const Setting& setting : settings_) {
    const bool is_switch = setting.option->get_expected_max() == 0;
    const std::string by_default = is_switch ? "false" : setting.option->get_default_str();
    const std::string value =
        setting.option->count() > 0 ? fmt::format("{}", fmt::join(setting.option->results(), ",")) : by_default;
    text += fmt::format("{:<14} {:<40} {}\n", setting.name, value.empty() ? "(none)" : value, setting.from);
  }
  for (const auto& [section, flags] : sections_) {
    for (const std::string& flag : *flags) {
      const size_t sign = flag.find('=');
      text += fmt::format("{:<14} {:<40} {}\n", section + "." + flag.substr(2, sign - 2), flag.substr(sign + 1), file_);
    }
  }
  return text;
}

}  // namespace slipstream
