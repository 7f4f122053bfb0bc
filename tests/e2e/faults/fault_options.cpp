#include "tests/e2e/faults/fault_options.h"

#include "common/config/command_line.h"
#include "common/config/settings_checks.h"

namespace slipstream::faults {
namespace {

constexpr uint32_t kHoldMsMax = 60'000;
constexpr double kCutEverySMax = 86'400;

Time seconds(double value) { return std::chrono::duration_cast<Time>(std::chrono::duration<double>(value)); }

}  // namespace

std::vector<std::string> FaultOptions::validate() const {
  Problems problems;
  problems.tcp_bind("--listen", listen, false);
  problems.connect("--upstream", upstream, false);
  const auto share = [&](const char* flag, double value) {
    if (!(value >= 0 && value <= 1)) problems.add(fmt::format("{} {} is no share; choose 0 to 1", flag, value));
  };
  share("--loss", loss);
  share("--duplicate", duplicate);
  share("--reorder", reorder);
  share("--spike", spike);
  if (!(cut_every_s >= 0 && cut_every_s <= kCutEverySMax)) problems.add("--cut-every-s is out of range; choose 0 to 86400");
  problems.log_level(log_level);
  return problems.take();
}

Result<ProxyPlan> FaultOptions::plan() const {
  TRY(Endpoint to, parse_endpoint(upstream));
  return ProxyPlan{.upstream = std::move(to),
                   .weather = {.loss = loss,
                               .duplicate = duplicate,
                               .reorder = reorder,
                               .reorder_most = std::chrono::milliseconds(reorder_ms),
                               .spike = spike,
                               .spike_lasts = std::chrono::milliseconds(spike_ms)},
                   .cut_every = seconds(cut_every_s),
                   .seed = seed};
}

Parsed<FaultOptions> parse_fault_options(int argc, const char* const* argv) {
  FaultOptions options;
  CommandLine line("fault_proxy", "Stands before a router or drafter and treats whole messages badly, both ways.");
  line.option("--listen", options.listen, "Where those connect that would connect to the upstream; port 0: any free one");
  line.option("--upstream", options.upstream, "The router or drafter");
  line.option("--loss", options.loss, "Share of messages that never arrive");
  line.option("--duplicate", options.duplicate, "Share of messages that arrive twice");
  line.option("--reorder", options.reorder, "Share of messages that those behind them may overtake");
  line.option("--reorder-ms", options.reorder_ms, {0, kHoldMsMax},
              "How long such a message, or a second copy, is held back at most");
  line.option("--spike", options.spike, "Share of messages at which their direction stands still");
  line.option("--spike-ms", options.spike_ms, {0, kHoldMsMax}, "For how long");
  line.option("--cut-every-s", options.cut_every_s, "Cut some connection so often on average; 0: never");
  line.option("--seed", options.seed, "Of all dice");
  line.option("--log-level", options.log_level, "debug, info, warning, error or off");
  line.option("--port-file", options.port_file, "Write the bound address there as JSON once ready");
  line.option("--tally-file", options.tally_file, "Write there as JSON what was done, at SIGUSR1 and at the end");
  if (const auto exit = line.parse(argc, argv, [&] { return options.validate(); })) return *exit;
  return options;
}

}  // namespace slipstream::faults
