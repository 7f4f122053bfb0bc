#include "tests/e2e/scripted/scripted_options.h"

#include <algorithm>

#include "common/config/command_line.h"
#include "common/config/settings_checks.h"
#include "tests/e2e/scripted/mischief.h"

namespace slipstream {

std::vector<std::string> ScriptedOptions::validate() const {
  Problems problems;
  problems.one_of("--script", script, {"random", "malformed", "oracle", "useless", "late", "endless", "deaf"});
  if (!mischief.empty() && std::ranges::find(all_mischief(), mischief, &Mischief::name) == all_mischief().end()) {
    problems.add("--mischief " + mischief + " is none of those in mischief.cpp");
  }
  std::vector<std::string> sentences = drafter.validate();
  for (std::string& sentence : problems.take()) sentences.push_back(std::move(sentence));
  return sentences;
}

Parsed<ScriptedOptions> parse_scripted_options(int argc, const char* const* argv) {
  ScriptedOptions options;
  CommandLine line("scripted-drafter", "A drafter for tests that plays a script in place of a draft method.");
  line.option("--script", options.script, "random, malformed, oracle, useless, late, endless or deaf");
  line.option("--answers", options.answers,
              "oracle: JSON list of token lists, prompt and output together; empty: it learns by listening");
  line.option("--seed", options.seed, "random, malformed: seed of what is random");
  line.option("--margin-us", options.margin_us, "useless: so long before each deadline; late: so long after it");
  line.option("--mischief", options.mischief, "malformed: only this one, by its name in mischief.cpp");
  line.option("--model", options.drafter.model, "Model folder: the tokenizer's fingerprint and the vocabulary are read");
  line.option("--router", options.drafter.router, "A router's worker endpoint; repeat it for several");
  line.option("--bind", options.drafter.bind, "Where verifiers connect; port 0 or *: any free one");
  line.option("--advertise", options.drafter.advertise,
              "What verifiers are told to connect to, where that is not --bind; malformed ignores it");
  line.option("--log-level", options.drafter.log_level, "debug, info, warning, error or off");
  line.option("--port-file", options.drafter.port_file, "Write the bound address there as JSON once ready");
  if (const auto exit = line.parse(argc, argv, [&] { return options.validate(); })) return *exit;
  return options;
}

}  // namespace slipstream
