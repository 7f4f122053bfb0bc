// simulate [--first SEED] [--seeds COUNT] [--trace]: runs this many scenarios and prints what
// happened in them. It stops at the first seed that violates an oracle and prints its trace, which
// `simulate --first SEED --trace` shows again. --soak HOURS: runs one world for that long instead.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

uint64_t at_work = 0;  // the current seed, for the message of a CHECK that aborts

void name_the_seed(int) {
  std::fprintf(stderr, "seed %llu: a broken invariant\n", static_cast<unsigned long long>(at_work));
  std::_Exit(2);
}

constexpr uint64_t kSeedsMax = 1'000'000'000'000;
constexpr double kSoakHoursMax = 24 * 7;

// What happened in the worlds that were run, and how fast they ran.
struct Seen {
  Tallies sum;
  uint64_t happenings = 0;
  double virtual_seconds = 0;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  void add(const Verdict& verdict) {
    sum.add(verdict.tallies);
    happenings += verdict.happenings;
    virtual_seconds += static_cast<double>(verdict.end.count()) * 1e-6;
  }
  void print(const std::string& what) const {
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    fmt::print("{}, all oracles hold; {:.1f} s, {:.2f} million events a second, {:.0f} times real time\n", what, took,
               static_cast<double>(happenings) * 1e-6 / took, virtual_seconds / took);
    for (const auto& [name, count, why] : sum.rows())
      fmt::print("  {:<18} {:>12}{}{}\n", name, count, why.empty() ? "" : "  ", why);
  }
};

bool show(const Scenario& scenario) {
  World world(scenario, true);
  const Verdict verdict = world.live();
  fmt::print("{}", scenario.text());
  for (const std::string& line : world.trace()) fmt::print("{}\n", line);
  fmt::print("{}\n", verdict.broken ? "BROKEN: " + *verdict.broken : "all oracles hold");
  return !verdict.broken;
}

bool soak(uint64_t seed, double hours) {
  at_work = seed;
  Seen seen;
  const auto waves = std::max(1, static_cast<int>(hours * (std::chrono::hours(1) / kWaveEvery)));
  const Verdict verdict = World(Scenario::soak(seed, waves), false).live();
  seen.add(verdict);
  if (verdict.broken) {
    fmt::print("soak of seed {}: {}\n", seed, *verdict.broken);
    return false;
  }
  seen.print(fmt::format("a soak of {} hours", hours));
  return true;
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
  double soak_hours = 0;
  app.add_option("--soak", soak_hours, "hours of virtual time that one world lives, of the first seed and no other")
      ->check(CLI::Range(0.01, kSoakHoursMax));
  app.add_flag("--trace", trace, "show what happens in the first seed, and no other");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGABRT, name_the_seed);
  if (trace) {
    at_work = first;
    return show(Scenario::draw(first)) ? 0 : 1;
  }
  if (soak_hours > 0) return soak(first, soak_hours) ? 0 : 1;
  Seen seen;
  for (at_work = first; at_work < first + seeds; ++at_work) {
    const Scenario scenario = Scenario::draw(at_work);
    const Verdict verdict = World(scenario, false).live();
    seen.add(verdict);
    if (!verdict.broken) continue;
    show(scenario);
    fmt::print("seed {}: {}\n", at_work, *verdict.broken);
    return 1;
  }
  seen.print(fmt::format("{} seeds from {}", seeds, first));
  return 0;
}
