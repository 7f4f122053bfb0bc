// What a service's main gets from its command line: its options, checked, or the exit code of a run that ends here (--help,
// --version, --check-config, or a mistake that was explained on stderr).
//
//   auto parsed = parse_router_options(argc, argv);
//   if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
//   const auto& options = std::get<RouterOptions>(parsed);
#pragma once

#include <string_view>
#include <variant>

namespace slipstream {

inline constexpr int kExitUsage = 2;                              // the command line, the environment or the file is wrong
inline constexpr std::string_view kHelpHint = "Run with --help";  // how the line behind the sentences on that begins

// What runs where no --model is given: fetched by the set-up, relative to the repository.
inline constexpr const char* kDefaultModel = "models/smollm2-135m-instruct.gguf";

struct ExitCode {
  int value = 0;
};
template <class Options>
using Parsed = std::variant<Options, ExitCode>;

}  // namespace slipstream
