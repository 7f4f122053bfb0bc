// simulate [--first SEED] [--seeds COUNT] [--trace]: lives through that many seeds, and says what it saw. The first seed that
// violates an oracle ends it with that seed's trace; `simulate --first SEED --trace` shows it again.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

uint64_t at_work = 0;  // the seed, for a CHECK that aborts

void name_the_seed(int) {
  std::fprintf(stderr, "seed %llu: a broken invariant\n", static_cast<unsigned long long>(at_work));
  std::_Exit(2);
}

constexpr uint64_t kSeedsMax = 1'000'000'000'000;

bool show(const Scenario& scenario) {
  World world(scenario, true);
  const Verdict verdict = world.live();
  fmt::print("{}", scenario.text());
  for (const std::string& line : world.trace()) fmt::print("{}\n", line);
  fmt::print("{}\n", verdict.broken ? "BROKEN: " + *verdict.broken : "all oracles hold");
  return !verdict.broken;
}

}  // namespace
}  // namespace slipstream::sim

int main(int argc, char** argv) {
  using namespace slipstream::sim;
  uint64_t first = 1, seeds = 1000;
  bool trace = false;
  CLI::App app("Drives routers, verifiers and drafters through seeded faults in virtual time");
  app.add_option("--first", first, "the first seed")->capture_default_str()->check(CLI::Range(uint64_t{0}, kSeedsMax));
  app.add_option("--seeds", seeds, "how many")->capture_default_str()->check(CLI::Range(uint64_t{1}, kSeedsMax));
  app.add_flag("--trace", trace, "show what happens in the first seed, and no other");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGABRT, name_the_seed);
  if (trace) {
    at_work = first;
    return show(Scenario::draw(first)) ? 0 : 1;
  }
  const auto began = std::chrono::steady_clock::now();
  Tallies sum;
  uint64_t happenings = 0;
  double virtual_seconds = 0;
  for (at_work = first; at_work < first + seeds; ++at_work) {
    const Scenario scenario = Scenario::draw(at_work);
    const Verdict verdict = World(scenario, false).live();
    sum.add(verdict.tallies);
    happenings += verdict.happenings;
    virtual_seconds += static_cast<double>(verdict.end.count()) * 1e-6;
    if (!verdict.broken) continue;
    show(scenario);
    fmt::print("seed {}: {}\n", at_work, *verdict.broken);
    return 1;
  }
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  fmt::print("{} seeds from {}, all oracles hold; {:.1f} s, {:.2f} million events a second, {:.0f} times real time\n", seeds,
             first, took, static_cast<double>(happenings) * 1e-6 / took, virtual_seconds / took);
  for (const auto& [name, count, why] : sum.rows())
    fmt::print("  {:<18} {:>12}{}{}\n", name, count, why.empty() ? "" : "  ", why);
  return 0;
}
