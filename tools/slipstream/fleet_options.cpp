#include "tools/slipstream/fleet_options.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "common/base/device_name.h"
#include "common/base/limits.h"
#include "common/base/names.h"
#include "common/config/command_line.h"
#include "common/config/drafter_config.h"
#include "common/config/look_up_file.h"
#include "common/config/router_config.h"
#include "common/config/settings_checks.h"
#include "common/config/verifier_config.h"
#include "tools/slipstream/section_check.h"

namespace slipstream::command {
namespace {

constexpr Range kPortRange{0, 65535};
constexpr Range kMetricsPortRange{0, 65534};  // the drafter's is the next one

void declare_fleet(CommandLine& line, FleetOptions& options) {
  std::vector<std::string> drafters(kMethodNames.begin(), kMethodNames.end());
  drafters.emplace_back(kNoMethod);
  const std::vector<std::string> residents(kResidentNames.begin(), kResidentNames.end());
  line.option("--model", options.model, "The model: a Hugging Face folder or a GGUF file");
  line.option("--drafter", options.drafter, drafters, "Draft method; its probabilities are trusted, since it is our own");
  line.option("--resident", options.resident, residents, "Draft method inside the verifier, beside the drafter");
  line.option(
      "--head", options.head,
      "Folder of the model's draft head, which guesses inside the verifier, with --drafter draft-head in the drafter; or "
      "none; unset: MODEL-head beside the model, if it is there");
  line.option("--look-up-corpus", options.corpora,
              "File of `slipstream corpus`, in which look-up finds drafts for everybody; repeat it for several");
  line.option("--look-up-file", options.look_up_file,
              "File that keeps look-up's earlier answers over a restart; none: they are forgotten");
  line.option(
      "--draft-model", options.draft_model,
      methods_with_model() + ": its folder or GGUF file, with the model's own tokenizer; none: the model drafts for itself");
  line.option("--deadline-us", options.deadline_us, {0, kDeadlineUsMax},
              fmt::format("Longest wait of a step for a tree, in microseconds; none: 200000 for {}, else 3000",
                          methods_with_network()));
  line.option("--wait-percent", options.wait_percent, kWaitPercentRange,
              "Longest total of such waits, beyond what drafts save, in % of the compute time; none: 5");
  line.option("--weights", options.weights, all_weights_choices(),
              "Format of the matrices (file: as the file has them; f32, bf16, f16 on torch; small on a GPU: what the file has "
              "in few bits stays so)");
  line.flag(
      "--fine-rows", options.fine_rows,
      "On a CPU, of small weights: the rows (activations) that they meet are rounded so finely that nothing is lost by it; "
      "a step of one row takes a tenth longer, a prompt 1.7 times as long");
  line.option("--path", options.path, path_choices(), "Instructions that models are computed with (auto: fastest for one row)");
  line.option("--device", options.device,
              fmt::format("What computes the models: {}; torch's need `make torch`", kDeviceChoices));
  line.option("--threads", options.cpus, kThreadsRange, "CPUs to divide among the three; 0: what the CPU quota allows");
  line.option("--run-folder", options.run_folder, "Folder for logs and port files");
}

void declare_clients(CommandLine& line, FleetOptions& options) {
  line.option("--host", options.host, "Address of the HTTP API; 0.0.0.0 or [::]: every address of this machine");
  line.option("--port", options.port, kPortRange, "Its port; 0: any free one");
  line.option("--api-key-file", options.api_key_file,
              "Clients need a key of this file, one a line; it is read again when it changes; none: no key is asked for");
  line.option("--tls-cert", options.tls_cert, "File of the server's certificate, PEM: HTTPS; none: HTTP in clear");
  line.option("--tls-key", options.tls_key, "File of its private key, PEM, without a password");
  line.option("--allowed-host", options.allowed_host,
              "A name by which clients may call the API, as a proxy in front of it passes it on; * for any; repeat it");
  line.flag("--ollama", options.ollama, "Speak Ollama's API, too (/api/chat and others)");
  line.flag("--strict", options.strict, "Refuse requests with fields that are not used; without it they are told of them");
  line.flag("--open", options.open, "Other machines may reach the API: anyone who can reach the port may use it");
  line.option("--metrics-port", options.metrics_port, kMetricsPortRange,
              "Port of the verifier's /metrics at --host; the drafter's is the next one; 0: any free ones on loopback");
  line.option("--model-name", options.model_name, "As clients name the model; none: the folder's name, or the file's");
  line.option("--queue-wait-ms", options.queue_wait_ms, kQueueWaitMsRange,
              "A request that would wait longer is refused with 429 and a time to come back; none: 5000; 0: none is");
  line.option("--drain-ms", options.drain_ms, kDrainMsRange,
              "When told to stop, answers under way may go on for so long; a second signal ends them at once");
  line.option("--rules", options.rules,
              "Acceptance rules that clients may choose, by commas; none: all that keep the distribution, and none that "
              "declares a bias");
}

void declare_services(CommandLine& line, FleetOptions& options) {
  line.option("--context-max", options.context_max, {16, static_cast<uint32_t>(kContextTokensMax), true},
              "Tokens of one sequence, prompt and output together; none or 0: the model's own limit");
  line.option("--cache-tokens", options.cache_tokens, kCacheTokensRange,
              "Rows of the verifier's KV cache, shared by all sequences; none: 16384, or what --cache-memory holds");
  line.option("--cache-memory", options.cache_memory,
              "Instead, the memory that this cache may take, and as much a draft model's: 2GiB, 512MiB");
  line.option("--nodes-max", options.nodes_max, {0, kTreeNodesMax}, "Drafted nodes a round; none: 8; 0: plain decoding");
  line.option("--keys", options.keys, "Folder of `slipstream keys new`: they speak encrypted; none: in clear, on loopback");
  line.option("--log-level", options.log_level, "Of all three: debug, info, warning, error or off");
  line.log_format(options.log_format, "Lines of their logs");
  line.option("--otlp", options.otlp,
              "Where all send their traces (OTLP over HTTP), as http://127.0.0.1:4318; none: no traces");
  line.section("router", options.router_more, router_flag_names());
  line.section("verifier", options.verifier_more, verifier_flag_names());
  line.section("drafter", options.drafter_more, drafter_flag_names());
}

std::vector<std::string> problems_of(const FleetOptions& options) {
  Problems problems;
  problems.log_level(options.log_level);
  problems.tls(options.tls_cert, options.tls_key);
  problems.cache(options.cache_tokens.has_value(), options.cache_memory);
  const auto http = http_endpoint(options);
  if (!http) {
    problems.add(fmt::format("--host {} is no address; write an IPv4 or an IPv6 address", options.host));
  } else {
    problems.http_bind("--host", http->address(), options.open || !options.api_key_file.empty(), kWaysToOpen);
  }
  problems.device({.device = options.device, .path = options.path, .weights = options.weights, .fine_rows = options.fine_rows});
  if (network_of(options.drafter) == DraftNetwork::head && options.head == kNoMethod) {
    problems.add(fmt::format("--drafter {} needs a draft head, and --head none leaves it out", options.drafter));
  }
  if (!options.rules.empty()) {
    RouterOptions router;
    router.rules = options.rules;
    problems.rules("--rules", router.rule_list());
  }
  return problems.take();
}

// What `serve` looks at beyond that. `slipstream doctor` finds it too, beside all else.
std::vector<std::string> problems_of_serve(const FleetOptions& options, const CommandLine& line) {
  std::vector<std::string> problems = problems_of(options);
  std::ranges::move(unused_drafting_flags(options), std::back_inserter(problems));
  if (looks_up(options) && !options.look_up_file.empty()) {
    if (const auto usable = check_look_up_file(options.look_up_file); !usable) problems.push_back(usable.error().message);
  }
  if (http_endpoint(options)) std::ranges::move(section_problems(options, line), std::back_inserter(problems));
  return problems;
}

void declare_serve(CommandLine& line, FleetOptions& options) {
  declare_clients(line, options);
  declare_fleet(line, options);
  declare_services(line, options);
}

void declare_demo(CommandLine& line, DemoOptions& options) {
  declare_fleet(line, options.fleet);
  line.option("--ask", options.ask, "Your own question instead of ours");
  line.flag("--plain", options.plain, "No colours");
}

void declare_doctor(CommandLine& line, doctor::DoctorOptions& options) {
  line.option("--url", options.url, "A running server to look at, too");
  line.option("--cacert", options.ca_file, "https: PEM file of the authorities that are trusted; none: the system's");
  line.option("--api-key", options.api_key, "Sent to that server");
  line.flag("--plain", options.plain, "No colours");
  declare_serve(line, options.fleet);
}

template <class Options>
completion::CommandWords words_of_command(const char* name, void (*declare)(CommandLine&, Options&)) {
  Options options;
  CommandLine line(name, "");
  declare(line, options);
  return completion::words_of(line.app(), [&](std::string_view flag) { return line.choices_of(flag); });
}

}  // namespace

Parsed<FleetOptions> parse_serve_options(int argc, const char* const* argv) {
  FleetOptions options;
  CommandLine line("slipstream serve", "Starts router, verifier and drafter on this machine and keeps them alive.");
  declare_serve(line, options);
  if (const auto exit = line.parse(argc, argv, [&] { return problems_of_serve(options, line); })) return *exit;
  line.forget_environment();
  return options;
}

Parsed<DemoOptions> parse_demo_options(int argc, const char* const* argv) {
  DemoOptions options;
  options.fleet.port = 0;
  options.fleet.name = "demo";
  options.fleet.drain_ms = 0;
  CommandLine line("slipstream demo", "Shows it: two questions, a killed drafter, the same words.");
  declare_demo(line, options);
  if (const auto exit = line.parse(argc, argv, [] { return std::vector<std::string>{}; })) return *exit;
  line.forget_environment();
  return options;
}

Parsed<doctor::DoctorOptions> parse_doctor_options(int argc, const char* const* argv) {
  doctor::DoctorOptions options;
  CommandLine line("slipstream doctor",
                   "Says whether `slipstream serve` with the same flags would work here, and what to do if not.");
  declare_doctor(line, options);
  if (const auto exit = line.parse(argc, argv, [&] { return problems_of(options.fleet); })) return *exit;
  line.forget_environment();
  return options;
}

std::vector<completion::CommandWords> fleet_command_words() {
  return {words_of_command("serve", declare_serve), words_of_command("demo", declare_demo),
          words_of_command("doctor", declare_doctor)};
}

}  // namespace slipstream::command
