// The part of a command line that all services share, over CLI11: flags > environment > file >
// defaults, --help with every default, --version, --check-config. (CLI11's own order puts the file
// above the environment, so those two are read here.)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "common/base/result.h"
#include "common/config/settings.h"

namespace slipstream {

class CommandLine {
 public:
  CommandLine(std::string service, std::string purpose);

  // flag "--deadline-us"; the environment names it SLIPSTREAM_DEADLINE_US, the file deadline-us.
  // `value` holds the default.
  template <class T>
  void option(const std::string& flag, T& value, const std::string& help) {
    add(app_.add_option(flag, value, help)->capture_default_str());
  }
  // A value that is no number, or is not in `range`, is refused with the range. Nothing else checks
  // it.
  void option(const std::string& flag, uint32_t& value, Range range, const std::string& help);
  // Given once or more; the environment separates with commas, the file has ["a", "b"].
  void option(const std::string& flag, std::vector<std::string>& values, const std::string& help);

  // Fills the bound values. An exit code: the run ends here, all is said on stdout or stderr.
  std::optional<ExitCode> parse(int argc, const char* const* argv, const std::function<std::vector<std::string>()>& validate);
  void warn(std::string_view sentence) const;  // on stderr, as problems are told; the run goes on

 private:
  struct Number {
    uint32_t* value = nullptr;
    Range range;
  };
  struct Setting {
    CLI::Option* option = nullptr;
    std::string name;  // "deadline-us"
    std::optional<Number> number = std::nullopt;
    std::string from = "default";
  };

  void add(CLI::Option* option, std::optional<Number> number = std::nullopt);
  Result<void> read_environment();
  Result<void> read_file();
  Result<void> set(Setting& setting, const std::vector<std::string>& values, const std::string& from);
  static Result<void> read_number(const Setting& setting);
  void warn_of_misspelt_variables() const;
  std::vector<std::string> names() const;                                                       // of all flags
  std::vector<std::string> resolve(const std::function<std::vector<std::string>()>& validate);  // problems
  std::string table() const;

  CLI::App app_;
  std::string service_;
  std::vector<Setting> settings_;
  std::string file_;
  bool check_ = false;
  bool version_ = false;
};

// "SLIPSTREAM_DEADLINE_US" of "deadline-us".
std::string environment_name(std::string_view setting);

}  // namespace slipstream
