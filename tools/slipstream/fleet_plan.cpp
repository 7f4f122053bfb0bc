#include "tools/slipstream/fleet_plan.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include <fmt/ranges.h>

#include "common/checkpoint/head_config.h"
#include "common/config/cpu_quota.h"
#include "common/config/router_config.h"
#include "common/config/settings_checks.h"
#include "common/config/verifier_config.h"

namespace slipstream::command {
namespace {

constexpr uint32_t kModelDeadlineUs = 200'000;
const std::filesystem::path kStateFolder = "/var/lib/slipstream";  // of an installation; docs/use/INSTALL.md

constexpr std::string_view kRepeatedFlags[] = {"--model-name", "--router", "--look-up-corpus",
                                               "--allowed-host"};  // each adds to the others

Result<std::filesystem::path> find_program(const std::string& service) {
  const std::filesystem::path here = this_program().parent_path();
  const std::string name = "slipstream-" + service;
  // An installation has all programs in one folder; a build tree has each in services/NAME/.
  for (const auto& folder : {here, here / ".." / ".." / "services" / service}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / name, ignored)) return std::filesystem::weakly_canonical(folder / name);
  }
  return fail("{} is not beside {}; build it: make build", name, this_program().string());
}

CpuSplit split_cpus(const FleetOptions& options) {
  const int cpus = options.cpus > 0 ? static_cast<int>(options.cpus) : cpu_quota();
  return network_of(options.drafter) != DraftNetwork::none ? CpuSplit::with_draft_model(cpus) : CpuSplit::of(cpus);
}

// What drafts inside the verifier; empty: nothing does.
std::string resident_words(const FleetOptions& options) {
  std::vector<std::string> methods;
  if (options.resident != kNoMethod) methods.push_back(options.resident);
  const bool headed = !head_folder(options.model.string(), options.head).empty();
  if (headed && network_of(options.drafter) != DraftNetwork::head) methods.emplace_back("draft head");
  return fmt::format("{}", fmt::join(methods, " and "));
}

void add(Command& command, const std::vector<std::string>& flags) {
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
}

}  // namespace

std::string CpuSplit::words() const {
  if (verifier_threads + drafter_threads > cpus) {
    return fmt::format(
        "{} CPU: verifier and drafter share it, so that most trees will come too late; give them two (--threads)", cpus);
  }
  if (drafter_threads > 0) {
    return fmt::format("{} CPUs: the verifier computes on {}, the drafter on {}", cpus, verifier_threads, drafter_threads);
  }
  const int left = cpus - verifier_threads;
  return fmt::format("{} CPU{}: the verifier computes on {}; router and drafter {}", cpus, cpus == 1 ? "" : "s",
                     verifier_threads, left > 0 ? fmt::format("share {}", left) : "work between its steps");
}

Result<std::filesystem::path> find_model(const std::filesystem::path& model) {
  std::error_code ignored;
  const auto there = [&](const std::filesystem::path& at) {
    return std::filesystem::exists(at / "config.json", ignored) || std::filesystem::is_regular_file(at, ignored);
  };
  if (there(model)) return model;
  if (std::filesystem::is_directory(model, ignored)) {
    return fail("{} holds no config.json, so it is no model folder; give a Hugging Face folder or a GGUF file with --model",
                model.string());
  }
  // Also search upwards from this program, so that it works from any working directory.
  for (auto at = this_program().parent_path(); model.is_relative() && at.has_relative_path(); at = at.parent_path()) {
    if (there(at / model)) return at / model;
  }
  if (model.is_relative() && there(kStateFolder / model)) return kStateFolder / model;
  return fail(
      "there is no model in {}{}; fetch the demo model with `make setup`, or give a Hugging Face folder or a GGUF file with "
      "--model",
      model.string(), model.is_relative() ? fmt::format(", and none in {}", (kStateFolder / model).string()) : "");
}

std::filesystem::path this_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

uint32_t deadline_of(const FleetOptions& options) {
  return options.deadline_us.value_or(network_of(options.drafter) != DraftNetwork::none ? kModelDeadlineUs
                                                                                        : RouterOptions().deadline_us);
}

Result<Endpoint> http_endpoint(const FleetOptions& options) {
  const bool bare = options.host.find(':') != std::string::npos && !options.host.starts_with('[');
  return parse_endpoint(fmt::format(fmt::runtime(bare ? "[{}]:{}" : "{}:{}"), options.host, options.port));
}

Endpoint metrics_endpoint(const FleetOptions& options, std::string_view service) {
  if (options.metrics_port == 0) return {"127.0.0.1", 0};
  return {http_endpoint(options)->host, static_cast<uint16_t>(options.metrics_port + (service == "drafter" ? 1 : 0))};
}

std::string near_host(const std::string& host) {
  if (!Endpoint{host, 0}.every_address()) return host;
  return host == "::" ? "::1" : "127.0.0.1";
}

std::vector<std::string> router_flags(const FleetOptions& options) {
  std::vector<std::string> flags{"--deadline-us", std::to_string(deadline_of(options))};
  if (!options.api_key_file.empty()) flags.insert(flags.end(), {"--api-key-file", options.api_key_file});
  if (!options.tls_cert.empty()) flags.insert(flags.end(), {"--tls-cert", options.tls_cert, "--tls-key", options.tls_key});
  for (const std::string& name : options.allowed_host) flags.insert(flags.end(), {"--allowed-host", name});
  if (options.open) flags.emplace_back("--open");
  if (options.ollama) flags.emplace_back("--ollama");
  if (options.strict) flags.emplace_back("--strict");
  if (!options.model_name.empty()) flags.insert(flags.end(), {"--model-name", options.model_name});
  if (options.nodes_max) flags.insert(flags.end(), {"--nodes-max", std::to_string(*options.nodes_max)});
  if (options.queue_wait_ms) flags.insert(flags.end(), {"--queue-wait-ms", std::to_string(*options.queue_wait_ms)});
  flags.insert(flags.end(), {"--trust", options.keys.empty() ? "local" : "drafter"});  // every worker is one of ours
  if (!options.rules.empty()) flags.insert(flags.end(), {"--rules", options.rules});
  return flags;
}

std::vector<std::string> compute_flags(const FleetOptions& options) {
  std::vector<std::string> flags{"--device", options.device, "--path", options.path, "--weights", options.weights};
  if (options.fine_rows) flags.emplace_back("--fine-rows");
  if (!options.cache_memory.empty()) flags.insert(flags.end(), {"--cache-memory", options.cache_memory});
  return flags;
}

std::vector<std::string> look_up_flags(const FleetOptions& options, std::string_view service) {
  const bool resident = options.resident == kNgram, in_verifier = service == "verifier";
  std::vector<std::string> flags;
  if (!(in_verifier ? resident : options.drafter == kNgram)) return flags;
  for (const std::string& corpus : options.corpora) flags.insert(flags.end(), {"--look-up-corpus", corpus});
  const bool keeps_file = in_verifier || !resident;
  if (keeps_file && !options.look_up_file.empty()) flags.insert(flags.end(), {"--look-up-file", options.look_up_file});
  return flags;
}

Result<void> check_section(std::string_view service, std::span<const std::string> given, std::span<const std::string> section) {
  for (const std::string& flag : section) {
    const std::string name = flag.substr(0, flag.find('='));
    const bool repeats = std::ranges::find(kRepeatedFlags, name) != std::end(kRepeatedFlags);
    if (repeats || std::ranges::find(given, name) == given.end()) continue;
    return fail(
        "the section [{}] has {}, which `slipstream serve` sets for that service already: take it out of the section "
        "(`slipstream serve --help` shows with which flag or setting of its own serve sets it)",
        service, name.substr(2));
  }
  return {};
}

std::string drafting_words(const FleetOptions& options) {
  const std::string resident = resident_words(options);
  if (options.drafter == kNoMethod && resident.empty()) return "no drafter: all is decoded plainly";
  if (options.drafter == kNoMethod) return fmt::format("no drafter process: the verifier drafts by {} itself", resident);
  return fmt::format(
      "drafter {}{}: a step waits {:g} ms for a tree at most (--deadline-us), and only while waiting pays (beside what drafts "
      "save, "
      "{} % of the time computed: --wait-percent); its probabilities are trusted, as it is our own",
      options.drafter, resident.empty() ? "" : fmt::format(" beside the verifier's own {}", resident),
      deadline_of(options) / 1000.0, options.wait_percent.value_or(VerifierOptions().wait_percent));
}

std::vector<std::string> unused_drafting_flags(const FleetOptions& options) {
  std::vector<std::string> sentences;
  if (!looks_up(options) && (!options.corpora.empty() || !options.look_up_file.empty())) {
    sentences.emplace_back(
        "--look-up-corpus and --look-up-file have no use where nothing looks up: choose --resident ngram or --drafter ngram");
  }
  if (!options.draft_model.empty() && network_of(options.drafter) != DraftNetwork::model) {
    sentences.push_back(
        fmt::format("--draft-model {} has no use with --drafter {}, which has no model: choose --drafter {}, or "
                    "leave --draft-model out",
                    options.draft_model.string(), options.drafter, methods_with_model()));
  }
  return sentences;
}

Result<void> check_head_is_there(const FleetOptions& options) {
  if (network_of(options.drafter) != DraftNetwork::head) return {};
  TRY_VOID(needed_head(options.model.string(), options.head, "--drafter " + options.drafter));
  return {};
}

FleetPlan::FleetPlan(FleetOptions options, CpuSplit cpus)
    : options_(std::move(options)), cpus_(cpus), run_folder_(options_.run_folder, options_.name) {}

FleetPlan FleetPlan::on_paper(FleetOptions options) {
  const CpuSplit cpus = split_cpus(options);
  return {std::move(options), cpus};
}

Result<FleetPlan> FleetPlan::make(FleetOptions options) {
  if (const auto unused = unused_drafting_flags(options); !unused.empty()) return fail("{}", fmt::join(unused, "; "));
  TRY_VOID(check_head_is_there(options));
  TRY_VOID(http_endpoint(options));
  FleetPlan plan = on_paper(std::move(options));
  TRY(plan.router_program_, find_program("router"));
  TRY(plan.verifier_program_, find_program("verifier"));
  TRY(plan.drafter_program_, find_program("drafter"));
  const auto check = [](std::string_view service, const Command& command, const std::vector<std::string>& section) {
    return check_section(service, std::span(command.arguments).first(command.arguments.size() - section.size()), section);
  };
  TRY_VOID(check("router", plan.router({}), plan.options_.router_more));
  TRY_VOID(check("verifier", plan.verifier({}), plan.options_.verifier_more));
  TRY_VOID(check("drafter", plan.drafter({}), plan.options_.drafter_more));
  return plan;
}

Command FleetPlan::router(const Ports& ports) const {
  // A restarted router binds the ports of its predecessor: the workers keep that address.
  Endpoint http = *http_endpoint(options_);
  if (ports.http != 0) http.port = ports.http;
  const std::string bind = ports.bind.empty() ? "tcp://127.0.0.1:0" : ports.bind;
  Command router{router_program_, {}, {}, run_folder_.log("router"), options_.log_format == "json"};
  add(router, {"--model", options_.model.string(), "--http", http.address(), "--bind", bind});
  add(router, {"--drain-ms", std::to_string(options_.drain_ms), "--port-file", run_folder_.port_file("router").string()});
  add(router, {"--log-level", options_.log_level, "--log-format", options_.log_format});
  if (!options_.otlp.empty()) add(router, {"--otlp", options_.otlp});
  add(router, router_flags(options_));
  add_keys("router", router);
  add(router, options_.router_more);
  return router;
}

Command FleetPlan::verifier(const Ports& router) const {
  Command verifier = worker("verifier", verifier_program_, router);
  add(verifier, {"--threads", std::to_string(cpus_.verifier_threads), "--drain-ms", "0"});
  add(verifier, compute_flags(options_));
  add(verifier, {"--resident", options_.resident});
  if (!options_.head.empty()) add(verifier, {"--head", options_.head});
  if (network_of(options_.drafter) == DraftNetwork::head) add(verifier, {"--head-at", std::string(kHeadAtDrafters)});
  add(verifier, look_up_flags(options_, "verifier"));
  if (options_.wait_percent) add(verifier, {"--wait-percent", std::to_string(*options_.wait_percent)});
  if (options_.context_max) add(verifier, {"--context-max", std::to_string(*options_.context_max)});
  if (options_.cache_tokens) add(verifier, {"--cache-tokens", std::to_string(*options_.cache_tokens)});
  add(verifier, options_.verifier_more);
  return verifier;
}

Command FleetPlan::drafter(const Ports& router) const {
  Command drafter = worker("drafter", drafter_program_, router);
  add(drafter, {"--method", options_.drafter});
  add(drafter, look_up_flags(options_, "drafter"));
  if (network_of(options_.drafter) != DraftNetwork::none) {
    add(drafter, {"--threads", std::to_string(cpus_.drafter_threads)});
    add(drafter, compute_flags(options_));
  }
  if (!options_.draft_model.empty()) add(drafter, {"--draft-model", options_.draft_model.string()});
  if (network_of(options_.drafter) == DraftNetwork::head && !options_.head.empty()) add(drafter, {"--head", options_.head});
  add(drafter, options_.drafter_more);
  return drafter;
}

Command FleetPlan::worker(std::string_view service, const std::filesystem::path& program, const Ports& router) const {
  Command command{program, {}, {}, run_folder_.log(service), options_.log_format == "json"};
  add(command, {"--model", options_.model.string(), "--router", router.bind});
  add(command, {"--port-file", run_folder_.port_file(service).string()});
  const Endpoint metrics = metrics_endpoint(options_, service);
  add(command, {"--metrics", metrics.address()});
  add(command, {"--log-level", options_.log_level, "--log-format", options_.log_format});
  if (!options_.otlp.empty()) add(command, {"--otlp", options_.otlp});
  if (!metrics.loopback()) add(command, {"--open"});  // pages of metrics are open, as the router's is
  add_keys(service, command);
  return command;
}

std::string FleetPlan::host_of(std::string_view service) const {
  return near_host(service == "router" ? http_endpoint(options_)->host : metrics_endpoint(options_, service).host);
}

void FleetPlan::add_keys(std::string_view service, Command& command) const {
  if (options_.keys.empty()) return;
  add(command, {"--key", (options_.keys / fmt::format("{}.key", service)).string()});
  add(command, {"--peers", (options_.keys / "peers").string()});
}

}  // namespace slipstream::command
