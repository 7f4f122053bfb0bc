#include "common/config/verifier_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/config/command_line.h"
#include "common/config/cpu_quota.h"
#include "common/config/kernel_choices.h"
#include "common/config/limits.h"
#include "common/config/problems.h"
#include "common/config/router_list.h"

namespace slipstream {

uint32_t VerifierOptions::threads_or_quota() const { return threads > 0 ? threads : static_cast<uint32_t>(cpu_quota()); }

std::vector<std::string> VerifierOptions::validate() const {
  Problems problems;
  problems.model("--model", model);
  problems.connect("--router", router, !key.empty());
  problems.range("--threads", threads, kThreadsRange);
  problems.path(path);
  problems.weights(weights);
  problems.range("--cache-tokens", cache_tokens, kCacheTokensRange);
  problems.range("--context-max", context_max, kContextTokensRange);
  problems.range("--wait-percent", wait_percent, kWaitPercentRange);
  problems.range("--drawn-wait-us", drawn_wait_us, kDrawnWaitUsRange);
  problems.range("--step-cost-us", step_cost_us, kStepCostUsRange);
  problems.bind("--metrics", metrics);
  problems.range("--drain-ms", drain_ms, kDrainMsRange);
  problems.keys(key, peers);
  problems.log_level(log_level);
  return problems.take();
}

Parsed<VerifierOptions> parse_verifier_options(int argc, const char* const* argv) {
  VerifierOptions options;
  CommandLine line("slipstream-verifier", "Owns the target model: checks draft trees and says every token.");
  line.option("--model", options.model, "Hugging Face folder or GGUF file");
  line.option("--router", options.router, "A router's worker endpoint; repeat it for several");
  line.option("--threads", options.threads, kThreadsRange,
              fmt::format("Threads of the model; 0: the CPU quota, here {}", cpu_quota()));
  line.option("--path", options.path, fmt::format("Instruction path: {}", fmt::join(path_choices(), ", ")));
  line.option("--weights", options.weights,
              fmt::format("Format of its matrices: {}; file: as the file has them", fmt::join(weights_choices(), ", ")));
  line.option("--cache-tokens", options.cache_tokens, kCacheTokensRange, "Rows of the KV cache, shared by all sequences");
  line.option("--context-max", options.context_max, kContextTokensRange,
              "Tokens of one sequence, prompt and output; 0: the model's own, or what the cache holds");
  line.option("--wait-percent", options.wait_percent, kWaitPercentRange,
              "Of the time computed, that steps may wait for drafts beside what drafts have saved");
  line.option("--drawn-wait-us", options.drawn_wait_us, kDrawnWaitUsRange,
              "Microseconds that a request of the ratio family waits for its tree, before it goes on without");
  line.option("--step-cost-us", options.step_cost_us, kStepCostUsRange,
              "Microseconds that every step is taken to cost, whatever its rows, so that every draft is worth verifying; 0: "
              "steps are timed at start and as they run");
  line.option("--metrics", options.metrics, "Where /metrics, /health and /ready are, host:port; port 0: any free one");
  line.option("--drain-ms", options.drain_ms, kDrainMsRange,
              "When told to stop, sequences that no other verifier takes over may go on for so long");
  line.option("--key", options.key, "File of this process's key pair, of `slipstream keys new`; none: loopback only");
  line.option("--peers", options.peers, "Folder of the public keys of those it may speak with");
  line.option("--log-level", options.log_level, "debug, info, warning, error or off");
  line.option("--port-file", options.port_file, "Write the bound addresses there as JSON once ready");
  const auto validate = [&] {
    for (const std::string& sentence : drop_repeats(options.router)) line.warn(sentence);
    return options.validate();
  };
  if (const auto exit = line.parse(argc, argv, validate)) return *exit;
  return options;
}

}  // namespace slipstream
