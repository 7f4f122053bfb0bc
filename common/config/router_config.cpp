#include "common/config/router_config.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "common/base/endpoint.h"
#include "common/base/limits.h"
#include "common/base/names.h"
#include "common/config/command_line.h"
#include "common/config/model_name.h"
#include "common/config/settings_checks.h"

namespace slipstream {

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<std::string> RouterOptions::served_names() const {
  return model_name.empty() ? std::vector{slipstream::model_name(model)} : model_name;
}

std::vector<std::string> RouterOptions::rule_list() const { return split(rules); }
std::vector<std::string> RouterOptions::trust_list() const { return split(trust); }

std::vector<std::string> RouterOptions::validate() const {
  Problems problems;
  check(problems);
  problems.rules("--rules", rule_list());
  for (const std::string& name : trust_list()) {
    // A drafter's key proves its name. Without keys drafters have no names, but all are on
    // loopback.
    if (name == "local" ? !keyed() : keyed() && name.starts_with("drafter")) continue;
    problems.add(
        keyed() ? fmt::format("--trust has \"{}\": with --key, give names of drafters' keys, such as drafter-2", name)
                : fmt::format("--trust has \"{}\": without --key, drafters have no names; `local` trusts those on this machine",
                              name));
  }
  problems.one_of("--tenants", tenants, {kTenantsNames.begin(), kTenantsNames.end()});
  problems.http_bind("--http", http, open || !api_key_file.empty(), kWaysToOpen);
  problems.tls(tls_cert, tls_key);
  problems.tcp_bind("--bind", bind, keyed());
  for (const std::string& name : served_names()) {
    if (!name.empty() && name.size() <= kTextBytesMax) continue;
    problems.add(fmt::format("--model-name must have 1 to {} bytes", kTextBytesMax));
  }
  if (served_names().front() == "*") problems.add("--model-name must begin with a name that answers can tell, before *");
  for (const std::string& origin : cors_origin) {
    const bool has_scheme = origin.starts_with("http://") || origin.starts_with("https://");
    if (origin == "*" || (has_scheme && !origin.ends_with('/'))) continue;
    problems.add(fmt::format("--cors-origin has \"{}\": write an origin such as https://chat.example, or *", origin));
  }
  const auto within = [&](std::string_view flag, std::optional<double> value, double least, double most) {
    if (value && !(*value >= least && *value <= most)) {
      problems.add(fmt::format("{} must be between {} and {}; it is {}", flag, least, most, *value));
    }
  };
  within("--threshold", threshold, 0, 1);
  within("--trace-share", trace_share, 0, 1);
  if (!prometheus.empty()) problems.http_url("--prometheus", prometheus);
  within("--default-temperature", default_temperature, 0, 2);
  within("--default-top-p", default_top_p, kDefaultTopPMin, 1);
  within("--default-min-p", default_min_p, 0, kDefaultMinPMax);
  within("--default-repetition-penalty", default_repetition_penalty, 0.01, 100);
  return problems.take();
}

namespace {

// What clients meet.
void declare_api(CommandLine& line, RouterOptions& options) {
  line.option("--http", options.http, "Where clients connect, host:port; port 0: any free one");
  line.option("--api-key-file", options.api_key_file,
              "Clients need a key of this file, one a line; it is read again when it changes; none: no key is asked for");
  line.option("--tls-cert", options.tls_cert, "File of the server's certificate, PEM: HTTPS; none: HTTP in clear");
  line.option("--tls-key", options.tls_key, "File of its private key, PEM, without a password");
  line.option("--bind", options.bind, "Where verifiers and drafters connect; port 0 or *: any free one");
  line.option("--model", options.model, "Hugging Face folder or GGUF file: tokenizer, chat template and config are read");
  line.option("--model-name", options.model_name,
              "As clients name the model; repeat it for several, * for any; default: the folder's name, or the file's");
  line.option("--cors-origin", options.cors_origin,
              "Of web pages that may call the API from their scripts, as https://chat.example; * for any; repeat it");
  line.option("--allowed-host", options.allowed_host,
              "A name by which clients may call this router, as a proxy in front of it passes it on; * for any; repeat it");
  line.option("--metrics-compat", options.metrics_compat,
              std::vector<std::string>{std::string(kNoCompat), std::string(kVllmCompat)},
              "Whose names of metrics /metrics has beside our own, for dashboards that ask for them");
  line.flag("--ollama", options.ollama,
            "Speak Ollama's API, too: /api/chat, /api/generate, /api/tags, /api/show, /api/version");
  line.flag("--strict", options.strict, "Refuse requests with fields that are not used; without it they are told of them");
  line.option("--default-temperature", options.default_temperature,
              "Of requests that name none; without the flag as the model's files say, else 1. So also the next ones");
  line.option("--default-top-p", options.default_top_p, "Of requests that name none");
  line.option("--default-top-k", options.default_top_k, "Of requests that name none; 0: off");
  line.option("--default-min-p", options.default_min_p, "Of requests that name none");
  line.option("--default-repetition-penalty", options.default_repetition_penalty, "Of requests that name none");
}

// How verifiers and drafters are used.
void declare_fleet(CommandLine& line, RouterOptions& options) {
  line.option("--deadline-us", options.deadline_us, {0, kDeadlineUsMax}, "Microseconds that a verifier waits for a draft tree");
  line.option("--nodes-max", options.nodes_max, {0, kTreeNodesMax}, "Drafted nodes a round; 0: plain decoding");
  line.option("--tune", options.tune, std::vector<std::string>{"on", "off"},
              "Whether the router sets how sure a drafter must be of a node, by what the workers' /metrics say");
  line.option(
      "--threshold", options.threshold,
      "Drafters stop where a node is rejected with more than this chance, 0 to 1: at first, and always with --tune off");
  line.option("--prometheus", options.prometheus,
              "Where to read the workers' metrics, as http://prometheus:9090; none: from the workers themselves");
  line.option("--trace-share", options.trace_share,
              "With --otlp: share of the requests that are traced, 0 to 1, of those whose client sends no traceparent");
  line.option("--lease-ms", options.lease_ms, {kLeaseMsMin, kLeaseMsMax},
              "Verifiers free the sequences of a router not heard for so long");
  line.option("--queue-wait-ms", options.queue_wait_ms, kQueueWaitMsRange,
              "A request that would wait longer for a verifier is refused with 429 and a time to come back; 0: none is");
  line.option("--rebalance-ms", options.rebalance_ms, {0, 3'600'000},
              "Live requests move to a verifier that had much less to do for so long; 0: never");
  line.option("--verifier-stuck-ms", options.verifier_stuck_ms, kStuckMsRange,
              "A verifier that has work and ends no step for so long is given up; raise it if your steps are slow");
  line.option("--drain-ms", options.drain_ms, kDrainMsRange, "When told to stop, answers under way may go on for so long");
  line.option("--rules", options.rules,
              "Acceptance rules that clients may choose, by commas; those that declare a bias are not in by default");
  line.option("--tenants", options.tenants,
              "Whose requests share prefix caches and look-up: by-key (each API key is a tenant) or one (all clients are)");
  line.option("--trust", options.trust,
              "Drafters whose probabilities are believed, for all rules but coupled: names of keys, by commas, or local");
}

constexpr const char* kName = "slipstream-router";

void declare(CommandLine& line, RouterOptions& options) {
  declare_api(line, options);
  declare_fleet(line, options);
  options.declare(line);
  line.others_setting("--metrics");  // the workers'
}

}  // namespace

std::vector<std::string> router_flag_names() {
  RouterOptions options;
  CommandLine line(kName, "");
  declare(line, options);
  return line.names();
}

std::vector<std::string> router_problems(const std::vector<std::string>& arguments, bool form) {
  RouterOptions options;
  CommandLine line(kName, "");
  declare(line, options);
  return line.problems_of(arguments, [&] { return form ? std::vector<std::string>{} : options.validate(); });
}

Parsed<RouterOptions> parse_router_options(int argc, const char* const* argv) {
  return parse_router_options(argc, argv, [](const RouterOptions&) { return std::vector<std::string>{}; });
}

Parsed<RouterOptions> parse_router_options(int argc, const char* const* argv, const RouterFileCheck& check) {
  RouterOptions options;
  CommandLine line(kName, "Takes chat requests over HTTP and has verifiers and drafters answer them.");
  declare(line, options);
  const auto validate = [&] {
    auto problems = options.validate();
    return problems.empty() ? check(options) : problems;
  };
  if (const auto exit = line.parse(argc, argv, validate)) return *exit;
  return options;
}

}  // namespace slipstream
