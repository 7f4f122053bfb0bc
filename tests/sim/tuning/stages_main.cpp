// stages: the trace of stages.h under fixed thresholds and under the tuner
// (docs/lab/PERFORMANCE.md). Writes one JSON object for each policy; stages.py makes the table and
// the plot of them.
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "tests/sim/tuning/stages.h"

namespace slipstream::sim {
namespace {

void print(std::string_view name, const StagesReport& report) {
  fmt::print(R"({{"policy": "{}", "settled": [{:.1f}], "tokens": [{:.1f}], "settings": [)", name,
             fmt::join(report.settled, ", "), fmt::join(report.tokens, ", "));
  for (size_t i = 0; i < report.settings.size(); ++i) {
    const auto& [when, setting] = report.settings[i];
    fmt::print(R"({}[{:.2f}, {:.3f}, {}, "{}", {:.4f}, {:.4f}])", i == 0 ? "" : ", ",
               std::chrono::duration<double>(when - kStagesBegin).count(), setting.threshold, setting.depth_max,
               name_of(setting.reason), setting.verify_price, setting.draft_price);
  }
  fmt::print("]}}\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace slipstream::sim

int main(int argc, char** argv) {
  using namespace slipstream::sim;
  FleetSize fleet;
  std::vector<float> fixed = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 1.0F};
  CLI::App app("A trace of changing load, prompts, drafters and distance under fixed thresholds and under the tuner");
  app.add_option("--verifiers", fleet.verifiers)->capture_default_str()->check(CLI::Range(1, 200));
  app.add_option("--drafters", fleet.drafters)->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--routers", fleet.routers)->capture_default_str()->check(CLI::Range(1, 50));
  app.add_option("--fixed", fixed, "thresholds to compare with")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  print("plain", live_stages(fleet, {.drafts = false}));
  for (const float h : fixed) print(fmt::format("{:.2f}", h), live_stages(fleet, {.threshold = h}));
  for (const float h : {0.1F, 0.99F}) {
    print(fmt::format("tuned from {:.2f}", h), live_stages(fleet, {.tunes = true, .threshold = h}));
  }
  return 0;
}
