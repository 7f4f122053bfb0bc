#include "common/config/drafter_config.h"

#include <fmt/format.h>

#include "common/base/endpoint.h"
#include "common/base/limits.h"
#include "common/base/names.h"
#include "common/config/command_line.h"
#include "common/config/settings_checks.h"

namespace slipstream {

std::vector<std::string> DrafterOptions::validate() const {
  Problems problems;
  problems.one_of("--method", method, {kMethodNames.begin(), kMethodNames.end()});
  look_up.check(problems, method == kNgram ? "" : "--method ngram");
  if (!draft_model.empty()) {
    problems.model("--draft-model", draft_model);
    if (network_of(method) != DraftNetwork::model) {
      problems.add(fmt::format("--draft-model has no use with --method {}; choose {}", method, methods_with_model()));
    }
  }
  if (!head.empty() && network_of(method) != DraftNetwork::head) {
    problems.add(fmt::format("--head has no use with --method {}; choose draft-head", method));
  } else if (head == kNoMethod) {
    problems.add("--method draft-head needs a draft head, and --head none leaves it out");
  }
  if (device != kCpuDevice && network_of(method) == DraftNetwork::none) {
    problems.add(fmt::format("--device {} has no use with --method {}, which has no model; leave it out", device, method));
  }
  check(problems);
  problems.tcp_bind("--bind", bind, keyed());
  if (!advertise.empty()) problems.connect("--advertise", advertise, keyed());
  // Verifiers get the endpoint from the router, on any machine, where 0.0.0.0 and :: mean
  // themselves.
  if (const auto endpoint = parse_endpoint(bind); endpoint && endpoint->every_address() && advertise.empty()) {
    problems.add("--bind " + bind +
                 " names no machine that a verifier could connect to; write this machine's own address, or tell theirs with "
                 "--advertise");
  }
  return problems.take();
}

namespace {

constexpr const char* kName = "slipstream-drafter";

void declare(CommandLine& line, DrafterOptions& options) {
  line.option("--method", options.method, "How to guess: " + method_words());
  line.option("--model", options.model,
              "The target's folder or GGUF file: the tokenizer's fingerprint and the vocabulary are read");
  line.option(
      "--draft-model", options.draft_model,
      methods_with_model() + ": its folder or GGUF file, with the target's tokenizer; none: the target drafts for itself");
  line.option(
      "--head", options.head,
      "draft-head: folder of the target's draft head, the one that its verifiers have, whose --head-at is drafters; unset: "
      "MODEL-head beside the target");
  line.option("--siblings", options.siblings, {1, kSiblingsMax},
              methods_with_network() + ": candidates a node of a tree; 1: chains");
  options.look_up.declare(line, "ngram: ");
  line.option("--bind", options.bind, "Where verifiers connect; port 0 or *: any free one");
  line.option("--advertise", options.advertise,
              "What verifiers are told to connect to, where that is not --bind (a proxy, a service's name); default: the bound "
              "endpoint");
  options.declare(line, methods_with_network() + ": ");
}

}  // namespace

std::vector<std::string> drafter_flag_names() {
  DrafterOptions options;
  CommandLine line(kName, "");
  declare(line, options);
  return line.names();
}

std::vector<std::string> drafter_problems(const std::vector<std::string>& arguments, bool form) {
  DrafterOptions options;
  CommandLine line(kName, "");
  declare(line, options);
  return line.problems_of(arguments, [&] {
    (void)drop_repeats(options.router);
    return form ? std::vector<std::string>{} : options.validate();
  });
}

Parsed<DrafterOptions> parse_drafter_options(int argc, const char* const* argv) {
  DrafterOptions options;
  CommandLine line(kName, "Guesses the next tokens of every sequence of its verifiers, as trees.");
  declare(line, options);
  // drop_repeats() comes first: it also spells the endpoints that validate() checks.
  const auto validate = [&] {
    for (const std::string& sentence : drop_repeats(options.router)) line.warn(sentence);
    return options.validate();
  };
  if (const auto exit = line.parse(argc, argv, validate)) return *exit;
  return options;
}

}  // namespace slipstream
