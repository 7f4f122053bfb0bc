// What the settings of all programs share: ranges of numbers, and the result of parsing a command
// line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "common/base/result.h"

namespace slipstream {

// The allowed values of a number: [low, high], and 0 too where it has a meaning of its own.
struct Range {
  uint32_t low = 0;
  uint32_t high = 0;
  bool or_zero = false;

  bool has(uint32_t value) const { return (value >= low && value <= high) || (or_zero && value == 0); }
  std::string words() const { return fmt::format("{}{} to {}", or_zero ? "0, or " : "", low, high); }
};

// Ranges of settings that several programs have.
inline constexpr Range kThreadsRange{0, 256};
inline constexpr Range kWaitPercentRange{0, 100'000};  // the upper end means in practice: always wait
inline constexpr Range kCacheTokensRange{256, 16 * 1024 * 1024};
inline constexpr Range kDrainMsRange{0, 3'600'000};
inline constexpr Range kQueueWaitMsRange{0, 3'600'000};
inline constexpr Range kStuckMsRange{1000, 3'600'000};

// Exit codes. A supervisor starts a service again after the first, and not after the second.
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;  // the command line, the environment, the file, or what they name is wrong

// That of a start which failed with this error.
inline int exit_code_of(const Error& error) { return error.passing ? kExitFailure : kExitUsage; }
inline constexpr std::string_view kHelpHint = "Run with --help";  // begins the line after the problems

// What lets an HTTP API be reachable from other machines, for the sentence that refuses it.
inline constexpr std::string_view kWaysToOpen =
    "--api-key-file FILE, so that clients need a key, or --open, so that anyone who can reach the port may use it";

// The default of --model, relative to the repository. `make setup` fetches it.
inline constexpr const char* kDefaultModel = "models/smollm2-135m-instruct.gguf";

// The result of parsing a service's command line: its checked options, or an exit code if the
// program shall end (--help, --version, --check-config, or a problem that was explained on stderr).
//
//   auto parsed = parse_router_options(argc, argv);
//   if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
//   const auto& options = std::get<RouterOptions>(parsed);
struct ExitCode {
  int value = 0;
  bool operator==(const ExitCode&) const = default;
};
template <class Options>
using Parsed = std::variant<Options, ExitCode>;

}  // namespace slipstream
