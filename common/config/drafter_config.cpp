#include "common/config/drafter_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/method_names.h"
#include "common/config/command_line.h"
#include "common/config/cpu_quota.h"
#include "common/config/endpoint.h"
#include "common/config/kernel_choices.h"
#include "common/config/limits.h"
#include "common/config/problems.h"
#include "common/config/router_list.h"

namespace slipstream {

uint32_t DrafterOptions::threads_or_quota() const { return threads > 0 ? threads : static_cast<uint32_t>(cpu_quota()); }

std::vector<std::string> DrafterOptions::validate() const {
  Problems problems;
  problems.one_of("--method", method, {kMethodNames.begin(), kMethodNames.end()});
  problems.model("--model", model);
  if (!draft_model.empty()) {
    problems.model("--draft-model", draft_model);
    if (method != kSmallLm) problems.add(fmt::format("--draft-model has no use with --method {}; choose small-lm", method));
  }
  problems.range("--threads", threads, kThreadsRange);
  problems.path(path);
  problems.weights(weights);
  problems.range("--cache-tokens", cache_tokens, kCacheTokensRange);
  problems.range("--siblings", siblings, kSiblingsRange);
  problems.connect("--router", router, !key.empty());
  problems.tcp_bind("--bind", bind, !key.empty());
  if (!advertise.empty()) problems.connect("--advertise", {advertise}, !key.empty());
  problems.bind("--metrics", metrics);
  if (const auto endpoint = parse_endpoint(bind); endpoint && endpoint->host == "0.0.0.0" && advertise.empty()) {
    problems.add("--bind " + bind +
                 " names no machine that a verifier could connect to; write this machine's own address, or tell theirs with "
                 "--advertise");
  }
  problems.keys(key, peers);
  problems.log_level(log_level);
  return problems.take();
}

Parsed<DrafterOptions> parse_drafter_options(int argc, const char* const* argv) {
  DrafterOptions options;
  CommandLine line("slipstream-drafter", "Guesses the next tokens of every sequence of its verifiers, as trees.");
  line.option("--method", options.method, "How to guess: ngram (look-up in the sequence itself) or small-lm (a small model)");
  line.option("--model", options.model,
              "The target's folder or GGUF file: the tokenizer's fingerprint and the vocabulary are read");
  line.option("--draft-model", options.draft_model,
              "small-lm: its folder or GGUF file, with the target's tokenizer; none: the target drafts for itself");
  line.option("--threads", options.threads, kThreadsRange,
              fmt::format("small-lm: its threads; 0: the CPU quota, here {}", cpu_quota()));
  line.option("--path", options.path, fmt::format("small-lm: instruction path: {}", fmt::join(path_choices(), ", ")));
  line.option(
      "--weights", options.weights,
      fmt::format("small-lm: format of its matrices: {}; file: as the file has them", fmt::join(weights_choices(), ", ")));
  line.option("--cache-tokens", options.cache_tokens, kCacheTokensRange,
              "small-lm: rows of its KV cache, shared by all sequences");
  line.option("--siblings", options.siblings, kSiblingsRange, "small-lm: candidates a node of a tree; 1: chains");
  line.option("--router", options.router, "A router's worker endpoint; repeat it for several");
  line.option("--bind", options.bind, "Where verifiers connect; port 0 or *: any free one");
  line.option("--advertise", options.advertise,
              "What verifiers are told to connect to, where that is not --bind (a proxy, a service's name); default: the bound "
              "endpoint");
  line.option("--metrics", options.metrics, "Where /metrics, /health and /ready are, host:port; port 0: any free one");
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
