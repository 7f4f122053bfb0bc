// What the settings of all programs share: how a number is bounded, and what a command line gives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace slipstream {

// What a number may be: low to high and, where 0 stands for something of its own, 0 too.
struct Range {
  uint32_t low = 0;
  uint32_t high = 0;
  bool or_zero = false;

  bool has(uint32_t value) const { return (value >= low && value <= high) || (or_zero && value == 0); }
  std::string words() const { return fmt::format("{}{} to {}", or_zero ? "0, or " : "", low, high); }
};

// The ranges of settings that several programs have.
inline constexpr Range kThreadsRange{0, 256};
inline constexpr Range kWaitPercentRange{0, 100'000};  // at its end practically: always wait
inline constexpr Range kDrainMsRange{0, 3'600'000};

inline constexpr int kExitUsage = 2;                              // the command line, the environment or the file is wrong
inline constexpr std::string_view kHelpHint = "Run with --help";  // how the line behind the sentences on that begins

// What runs where no --model is given: fetched by the set-up, relative to the repository.
inline constexpr const char* kDefaultModel = "models/smollm2-135m-instruct.gguf";

// What a service's main gets from its command line: its options, checked, or the exit code of a run
// that ends here (--help, --version, --check-config, or a mistake that was explained on stderr).
//
//   auto parsed = parse_router_options(argc, argv);
//   if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
//   const auto& options = std::get<RouterOptions>(parsed);
struct ExitCode {
  int value = 0;
};
template <class Options>
using Parsed = std::variant<Options, ExitCode>;

}  // namespace slipstream
