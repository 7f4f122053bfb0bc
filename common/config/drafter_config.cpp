#include "common/config/drafter_config.h"

#include "common/config/command_line.h"
#include "common/config/endpoint.h"
#include "common/config/problems.h"

namespace slipstream {

std::vector<std::string> DrafterOptions::validate() const {
  Problems problems;
  problems.one_of("--method", method, {"ngram"});
  problems.folder("--model", model);
  problems.connect("--router", router, !key.empty());
  problems.tcp_bind("--bind", bind, !key.empty());
  problems.bind("--metrics", metrics);
  if (const auto endpoint = parse_endpoint(bind); endpoint && endpoint->host == "0.0.0.0") {
    problems.add("--bind " + bind + " names no machine that a verifier could connect to; write this machine's own address");
  }
  problems.keys(key, peers);
  problems.log_level(log_level);
  return problems.take();
}

Parsed<DrafterOptions> parse_drafter_options(int argc, const char* const* argv) {
  DrafterOptions options;
  CommandLine line("slipstream-drafter", "Guesses the next tokens of every sequence of its verifiers, as trees.");
  line.option("--method", options.method, "How to guess: ngram (look-up in the sequence itself)");
  line.option("--model", options.model, "Model folder: the tokenizer's fingerprint and the vocabulary are read");
  line.option("--router", options.router, "A router's worker endpoint; repeat it for several");
  line.option("--bind", options.bind, "Where verifiers connect; port 0 or *: any free one");
  line.option("--metrics", options.metrics, "Where /metrics, /health and /ready are, host:port; port 0: any free one");
  line.option("--key", options.key, "File of this process's key pair, of `slipstream keys new`; none: loopback only");
  line.option("--peers", options.peers, "Folder of the public keys of those it may speak with");
  line.option("--log-level", options.log_level, "debug, info, warning, error or off");
  line.option("--port-file", options.port_file, "Write the bound addresses there as JSON once ready");
  if (const auto exit = line.parse(argc, argv, [&] { return options.validate(); })) return *exit;
  return options;
}

}  // namespace slipstream
