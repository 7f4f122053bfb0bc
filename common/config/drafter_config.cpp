#include "common/config/drafter_config.h"

#include "common/config/command_line.h"
#include "common/config/problems.h"

namespace slipstream {

std::vector<std::string> DrafterOptions::validate() const {
  Problems problems;
  problems.one_of("--method", method, {"ngram"});
  problems.folder("--model", model);
  problems.connect("--router", router);
  problems.tcp_bind("--bind", bind);
  if (!advertise.empty()) problems.connect("--advertise", {advertise});
  problems.bind("--metrics", metrics);
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
  line.option("--advertise", options.advertise,
              "What verifiers are told to connect to, where that is not --bind (a proxy, a service's name); default: the bound "
              "endpoint");
  line.option("--metrics", options.metrics, "Where /metrics, /health and /ready are, host:port; port 0: any free one");
  line.option("--log-level", options.log_level, "debug, info, warning, error or off");
  line.option("--port-file", options.port_file, "Write the bound addresses there as JSON once ready");
  if (const auto exit = line.parse(argc, argv, [&] { return options.validate(); })) return *exit;
  return options;
}

}  // namespace slipstream
