// slipstream-theory: compares the theory of speculative decoding with simulations by the product's
// own acceptance code. Writes one HTML page and prints a summary. The exit status is 1 if a
// simulation contradicts a formula (docs/lab/THEORY.md).
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "common/base/result.h"
#include "research/theory/sections.h"

namespace slipstream::theory {
namespace {

constexpr int kRunsMin = 1000, kRunsMax = 100'000'000;  // with fewer runs, a mean over a tenth of them is not normal
constexpr uint64_t kSeedMax = 1'000'000;

struct Options {
  std::string out = "theory.html";
  int runs = 20'000;
  uint64_t seed = 10;
};

Result<void> write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return fail("{} cannot be written: name a file in a folder that exists with --out", path);
  return {};
}

Result<bool> run(const Options& options) {
  TRY_VOID(write(options.out, ""));  // fail before the work, not after it
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  Study study(options.runs, options.seed,
              [&](const std::string& what) { fmt::print(stderr, "{:6.1f} s  {}\n", seconds(), what); });
  const Report report = full_report(study);
  TRY_VOID(write(options.out, html(report)));
  fmt::print("{}\nWritten to {} after {:.1f} s.\n", summary(report), options.out, seconds());
  return report.holds();
}

}  // namespace
}  // namespace slipstream::theory

int main(int argc, char** argv) {
  using namespace slipstream::theory;
  Options options;
  CLI::App app("The theory of speculative decoding beside simulations by Slipstream's own acceptance code, as one HTML page");
  app.add_option("--out", options.out, "the page")->capture_default_str();
  app.add_option("--runs", options.runs, "simulated answers of each number, at most")
      ->check(CLI::Range(kRunsMin, kRunsMax))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the models and of all noise")
      ->check(CLI::Range(uint64_t{0}, kSeedMax))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto holds = run(options);
  if (!holds) {
    fmt::print(stderr, "slipstream-theory: {}\n", holds.error().message);
    return 1;
  }
  return *holds ? 0 : 1;
}
