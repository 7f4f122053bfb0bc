// day: a day's requests under fixed pools and under the chart's policy, in virtual time
// (docs/use/SCALE.md). Writes one JSON object for each policy; tests/sim/day/day.py makes the
// plot and the table of them.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "tests/sim/day/day.h"

namespace slipstream::sim {
namespace {

double seconds(Time time) { return static_cast<double>(time.count()) * 1e-6; }

std::vector<double> quantiles(std::vector<double> values) {
  if (values.empty()) return {0, 0, 0};
  std::ranges::sort(values);
  const auto at = [&](double q) { return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))]; };
  return {at(0.5), at(0.95), at(0.99)};
}

void print(const DayReport& report, double factor, double took) {
  std::vector<double> first, each;
  size_t refused = 0, failed = 0;
  for (const Answer& answer : report.answers) {
    if (!answer.whole()) {
      ++(answer.refused() ? refused : failed);
      continue;
    }
    first.push_back(seconds(answer.first - answer.asked));
    each.push_back(seconds(answer.last - answer.first) / std::max(1, answer.tokens - 1));
  }
  fmt::print(
      R"({{"policy": "{}", "requests": {}, "refused": {}, "not_whole": {}, "drafted": {:.4f}, "verifier_hours": {:.3f}, )"
      R"("drafter_hours": {:.3f}, "verifier_changes": {}, "drafter_changes": {}, )",
      report.policy, report.answers.size(), refused, failed, report.drafted, factor * report.pod_hours[1],
      factor * report.pod_hours[2], report.changes[1], report.changes[2]);
  fmt::print(R"("first": [{:.4f}], "each": [{:.5f}], "events": {}, "took": {:.1f}, "moments": [)",
             fmt::join(quantiles(std::move(first)), ", "), fmt::join(quantiles(std::move(each)), ", "), report.happenings,
             took);
  for (size_t i = 0; i < report.moments.size(); ++i) {
    const Moment& m = report.moments[i];
    fmt::print("{}[{:.4f}, {:.3f}, {:.2f}, {}, {}, {}]", i == 0 ? "" : ", ", m.hour, m.requests_per_second,
               m.accepted_per_second, m.live, m.verifiers, m.drafters);
  }
  fmt::print("]}}\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace slipstream::sim

int main(int argc, char** argv) {
  using namespace slipstream::sim;
  DayLoad load{.hours = 6};
  uint64_t seed = 1;
  std::vector<std::string> only, set;
  CLI::App app("A day's requests under fixed pools and under the chart's scaling policy, in virtual time");
  app.add_option("--hours", load.hours, "of virtual time that the day takes: changes come 24 / HOURS times as fast")
      ->capture_default_str()
      ->check(CLI::Range(0.25, 24.0));
  app.add_option("--peak", load.peak_per_second, "requests a second at the busiest time")->capture_default_str();
  app.add_option("--seed", seed)->capture_default_str();
  app.add_option("--only", only, "these policies: small, middle, large, scaled");
  app.add_option("--set", set, "values of the chart: drafters.acceptedPerDrafter=20");
  CLI11_PARSE(app, argc, argv);
  ChartValues drafters = chart_values("drafterDefaults"), verifiers = chart_values("verifier");
  for (const std::string& one : set) {
    const size_t dot = one.find('.'), is = one.find('=');
    if (dot == std::string::npos || is == std::string::npos) return fmt::print(stderr, "--set ROLE.NAME=VALUE\n"), 2;
    (one.starts_with("verifier") ? verifiers : drafters)[one.substr(dot + 1, is - dot - 1)] = one.substr(is + 1);
  }
  const DayPolicy policies[] = {{.name = "small", .verifiers = 2, .drafters = 1},
                                {.name = "middle", .verifiers = 4, .drafters = 1},
                                {.name = "large", .verifiers = 8, .drafters = 4},
                                {.name = "scaled",
                                 .verifiers = 2,
                                 .drafters = 1,
                                 .scale_verifiers = verifier_scaling(verifiers),
                                 .scale_drafters = drafter_scaling(drafters)}};
  for (const DayPolicy& policy : policies) {
    if (!only.empty() && std::ranges::find(only, policy.name) == only.end()) continue;
    const auto began = std::chrono::steady_clock::now();
    const DayReport report = live_day(load, policy, seed);
    print(report, 24 / load.hours, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  return 0;
}
