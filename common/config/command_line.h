// A service's command line, on top of CLI11. A setting has the first of these values that is given:
//   1. the flag               --deadline-us 3000
//   2. the environment        SLIPSTREAM_DEADLINE_US=3000
//   3. the file of --config   deadline-us = 3000
//   4. the default
//
// It also gives a service --help, --version and --check-config.
//
//   CommandLine line("slipstream-verifier", "Owns the target model.");
//   line.option("--drain-ms", options.drain_ms, kDrainMsRange, "How long a drain may take");
//   if (const auto exit = line.parse(argc, argv, validate)) return *exit;
//
// The environment and the file are read here, because CLI11 lets the file win over the environment.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "common/base/result.h"
#include "common/config/misspelling.h"
#include "common/config/setting_line.h"
#include "common/config/settings.h"

namespace slipstream {

class CommandLine {
 public:
  using Validate = std::function<std::vector<std::string>()>;

  CommandLine(std::string service, std::string purpose);

  // Declares a setting by its flag, "--deadline-us". `value` holds the default; parse() writes to
  // it, so it must live until then.
  template <class T>
  void option(const std::string& flag, T& value, const std::string& help) {
    add(app_.add_option(flag, value, help)->capture_default_str());
  }
  // The same for a number. parse() refuses a text that is no number in `range`; no other code
  // checks the range.
  void option(const std::string& flag, uint32_t& value, Range range, const std::string& help);
  // The same for a number that may stay unset.
  void option(const std::string& flag, std::optional<uint32_t>& value, Range range, const std::string& help);
  // The same for a word that is one of `choices`.
  void option(const std::string& flag, std::string& value, std::span<const std::string> choices, const std::string& help);
  // The same for a list. The flag may be given several times, the environment separates the values
  // with commas, and the file has ["a", "b"].
  void option(const std::string& flag, std::vector<std::string>& values, const std::string& help);

  // The same for a switch, off by default: `--open` turns it on; environment and file say `true` or
  // `false`.
  void flag(const std::string& flag, bool& value, const std::string& help);
  // Declares what the program does in place of its work: neither environment nor file turns it on.
  void instead(const std::string& flag, bool& value, const std::string& help) { app_.add_flag(flag, value, help); }
  // Names a setting of another service that looks like one of ours: its variable may be set for
  // both processes, and is no misspelling.
  void others_setting(const std::string& flag) { others_.push_back(flag.substr(2)); }
  // Declares a section of the file, whose settings belong to another program: `lease-ms = 5000`
  // below [router] becomes "--lease-ms=5000" in `flags`. That program checks them. known: its
  // flags, without dashes: who gives one of its settings to us is told of the section.
  void section(const std::string& name, std::vector<std::string>& flags, std::vector<std::string> known);

  // Reads all sources and writes the declared values, then calls `validate`, whose sentences are
  // problems too. Returns an exit code if the program shall end: after --help, --version or
  // --check-config, or because of problems, which were explained on stderr.
  std::optional<ExitCode> parse(int argc, const char* const* argv, const Validate& validate);
  // The problems of these arguments alone, without environment and file, and what `validate` adds
  // if they can be read. Writes the declared values, and nothing to stderr. Call it once, in place
  // of parse().
  std::vector<std::string> problems_of(const std::vector<std::string>& arguments, const Validate& validate);
  // Where the file of --config has this setting: "FILE, line 7", or "FILE" if no line is found.
  // section: "": outside of all.
  std::string place_of(std::string_view section, std::string_view name) const;
  // What was declared: the flags with their help, and the words that a flag's value is one of;
  // none: it may be any.
  const CLI::App& app() const { return app_; }
  std::vector<std::string> choices_of(std::string_view flag) const;
  std::vector<std::string> names() const;      // of all flags, without dashes
  void warn(std::string_view sentence) const;  // on stderr, in the format of the log; the program goes on
  // Declares --log-format, one of kLogFormatNames (base/log.h).
  void log_format(std::string& value, const std::string& help);
  // Removes the variables of the declared settings from this process's environment, so that
  // programs that it starts do not take them for their own. REQUIRES: no other thread has started.
  void forget_environment() const;

 private:
  struct Number {
    std::function<void(uint32_t)> set;
    Range range;
  };
  struct Choice {
    std::string flag;
    const std::string* value = nullptr;
    std::vector<std::string> known;
  };
  struct Setting {
    CLI::Option* option = nullptr;
    std::string name;  // "deadline-us"
    std::optional<Number> number = std::nullopt;
    std::string from = "default";  // "flag", the variable's name, or the file's
  };

  void tell(std::string_view level, std::string_view sentence) const;  // on stderr, in the format of the log
  bool tells_json() const;
  ExitCode explain(const std::vector<std::string>& problems) const;  // on stderr

  void add(CLI::Option* option, std::optional<Number> number = std::nullopt);
  void add_number(const std::string& flag, const std::string& shown, Number number, const std::string& help);
  std::optional<SettingLine> line_of(std::string_view section, std::string_view name) const;  // in the file
  Result<void> read_environment();
  Result<void> read_file();
  Result<void> set(Setting& setting, const std::vector<std::string>& values, const std::string& from);
  Result<void> read_number(const Setting& setting) const;
  void warn_of_misspelt_variables() const;
  std::vector<std::string> problems(const Validate& validate) const;  // of the values
  std::vector<std::string> resolve(const Validate& validate);         // returns the problems
  std::string table() const;

  CLI::App app_;
  std::string service_;
  std::vector<std::string> others_;  // names of others_setting(), without dashes
  std::vector<Setting> settings_;
  std::vector<Choice> choices_;
  std::map<std::string, std::vector<std::string>*> sections_;
  std::vector<SectionFlags> section_flags_;
  std::string file_;                         // of --config; empty: none
  const std::string* log_format_ = nullptr;  // null: the program has none
  bool check_ = false;
  bool version_ = false;
};

// The environment variable of a setting: "SLIPSTREAM_DEADLINE_US" for "deadline-us".
std::string environment_name(std::string_view setting);

}  // namespace slipstream
