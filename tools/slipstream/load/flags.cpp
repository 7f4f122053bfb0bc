#include "tools/slipstream/load/flags.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "common/base/limits.h"
#include "common/config/subcommands.h"
#include "tools/slipstream/load/comparison.h"
#include "tools/slipstream/load/schedule.h"
#include "tools/slipstream/load/session.h"

namespace slipstream::command::load {
namespace {

constexpr double kMillisecondsMax = 3'600'000;  // of an objective
constexpr double kTimeoutMaxS = 24 * 3600;
// An answer is measured from its time in the run's schedule: no latency is beyond the histograms.
static_assert(std::chrono::duration<double>(kDurationMax).count() >= kSecondsMax + kTimeoutMaxS);

struct Group {
  CLI::App& app;
  const char* name;
  template <class Value>
  CLI::Option* operator()(const char* flag, Value& value, const char* help) const {
    return app.add_option(flag, value, help)->group(name);
  }
};

void server_flags(CLI::App& app, LoadOptions& options) {
  const Group option{app, "Which server"};
  option("--url", options.url, "The server, any that speaks OpenAI's API")->envname("SLIPSTREAM_URL")->capture_default_str();
  option("--against", options.against, "Another one: both take turns, and ratios are shown");
  option("--model", options.model, "Which model to ask for; none: the first of /v1/models");
  option("--against-model", options.against_model, "... of --against");
  option("--cacert", options.ca_file, "https: PEM file of the authorities that are trusted; none: the system's");
  option("--api-key", options.api_key, "Sent with each request")->envname("SLIPSTREAM_API_KEY");
}

void load_shape_flags(CLI::App& app, LoadOptions& options) {
  const Group option{app, "How many requests, and when"};
  option("--streams", options.streams, "Closed loop: so many ask again and again; 1,2,4 makes a run of each (default 8)")
      ->delimiter(',')
      ->check(CLI::Range(1, kInFlightMax));
  option("--rate", options.rates, "Open loop: requests a second, whatever the server does; 1,2,4 makes a run of each")
      ->delimiter(',')
      ->check(number_between(kRateMin, kRateMax));
  option("--arrivals", options.arrivals, "Open loop: poisson (independent users), even, or bursts")
      ->check(CLI::IsMember({"poisson", "even", "bursts"}))
      ->capture_default_str();
  option("--burst", options.burst, "Requests of a burst")->check(CLI::Range(1, kBurstMax))->capture_default_str();
  option("--trace", options.trace, "Open loop: replay JSON lines with \"at_ms\", \"prompt\" or \"messages\", \"max_tokens\"");
  option("--speed", options.speed, "2 replays the trace twice as fast")
      ->check(number_between(kSpeedMin, kSpeedMax))
      ->capture_default_str();
  option("--in-flight", options.in_flight, "Open loop: requests at once, at most; beyond it they are sent late")
      ->check(CLI::Range(1, kInFlightMax))
      ->capture_default_str();
  option("--requests", options.requests, "Requests of a run; 0: as many as its time allows")
      ->check(CLI::Range(0, kRequestsMax))
      ->capture_default_str();
  option("--seconds", options.seconds, "Length of a run (default 30, if there is no --requests and no --trace)")
      ->check(number_between(0.1, kSecondsMax));
  option("--pairs", options.pairs, "--against: windows of each server")->check(CLI::Range(2, kPairsMax))->capture_default_str();
  option("--timeout-s", options.timeout_s, "An answer that takes longer has failed")
      ->check(number_between(0.1, kTimeoutMaxS))
      ->capture_default_str();
}

void request_flags(CLI::App& app, LoadOptions& options) {
  const Group option{app, "What is asked"};
  option("--prompts", options.prompts, "One prompt a line, or JSON lines with a \"prompt\"; none: eight of ours");
  option("--system-file", options.system_file, "A system prompt before each question");
  option("--shared-prefix", options.shared_prefix, "... or one of so many words that is made up; 0: none")
      ->check(CLI::Range(0, kSharedPrefixWordsMax));
  option("--max-tokens", options.max_tokens, "Where an answer stops at the latest")
      ->check(CLI::Range(1, kContextTokensMax))
      ->capture_default_str();
  option("--temperature", options.temperature, "0: always the likeliest word")
      ->check(number_between(0, 2))
      ->capture_default_str();
  option("--seed", options.seed, "Equal seeds give equal requests at equal times")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1'000'000'000}))
      ->capture_default_str();
  option("--fields", options.fields, "Any other fields, as a JSON object: '{\"ignore_eos\": true}'");
  app.add_flag("--standard", options.standard, "Ask a Slipstream as any other server, without token ids")->group(option.name);
}

void result_flags(CLI::App& app, LoadOptions& options) {
  const Group option{app, "What is reported"};
  option("--slo-ttft-ms", options.slo_ttft_ms, "A good answer begins within this time")
      ->check(number_between(0, kMillisecondsMax));
  option("--slo-tpot-ms", options.slo_tpot_ms, "... and takes no longer for each token after the first")
      ->check(number_between(0, kMillisecondsMax));
  option("--json", options.json, "A file for the report as JSON");
  option("--html", options.html, "A file for the report as a page with plots");
  option("--each", options.each, "A file for a line of JSON for each request, as it ends");
}

}  // namespace

CLI::App* load_flags(CLI::App& app, LoadOptions& options) {
  CLI::App* load = app.add_subcommand("load", "Load a running server as many users would, and report latencies and throughput");
  server_flags(*load, options);
  load_shape_flags(*load, options);
  request_flags(*load, options);
  result_flags(*load, options);
  return load;
}

}  // namespace slipstream::command::load
