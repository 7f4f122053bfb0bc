#include "common/config/verifier_config.h"

#include <fmt/format.h>

#include "common/base/chain_rule.h"
#include "common/base/limits.h"
#include "common/config/command_line.h"
#include "common/config/settings_checks.h"

namespace slipstream {

std::vector<std::string> VerifierOptions::validate() const {
  Problems problems;
  problems.one_of("--resident", resident, {kResidentNames.begin(), kResidentNames.end()});
  if (const auto rule = read_chain_rule(head_rule); !head_rule.empty() && !rule) {
    problems.add("--head-rule " + rule.error().message);
  }
  problems.one_of("--head-at", head_at, {kHeadPlaces.begin(), kHeadPlaces.end()});
  if (head_at == kHeadAtDrafters) {
    if (head == kNoMethod) problems.add("--head-at drafters needs a draft head, and --head none leaves it out");
    if (!head_rule.empty()) problems.add("--head-rule has no use with --head-at drafters, which draft trees by their own");
  } else if (!head_rule.empty() && head == kNoMethod) {
    problems.add("--head-rule needs a draft head, and --head none leaves it out");
  }
  look_up.check(problems, resident == kNgram ? "" : "--resident ngram");
  check(problems);
  return problems.take();
}

namespace {

constexpr const char* kName = "slipstream-verifier";

void declare(CommandLine& line, VerifierOptions& options) {
  line.option("--model", options.model, "Hugging Face folder or GGUF file");
  line.option("--context-max", options.context_max, {16, kContextTokensMax, true},
              "Tokens of one sequence, prompt and output; 0: the model's own, or what the cache holds");
  line.option("--sequences", options.sequences, {1, kSequencesPerVerifierMax, true},
              fmt::format("Sequences at once, more wait in the routers' queues; 0: {}, on a GPU up to {} if its cache is large",
                          kCpuSequences, kSequencesPerVerifierMax));
  line.option("--wait-percent", options.wait_percent, kWaitPercentRange,
              "Of the time computed, that steps may wait for drafts beside what drafts have saved");
  line.option("--sampled-wait-us", options.sampled_wait_us, {1, 60'000'000},
              "Microseconds that a request of the ratio family waits for its tree, before it goes on without");
  line.option("--step-cost-us", options.step_cost_us, {1, 10'000'000, true},
              "Microseconds that every step is taken to cost, whatever its rows, so that every draft is worth verifying; 0: "
              "steps are timed at start and as they run");
  line.option(
      "--resident", options.resident,
      "Drafts in this process too, beside the drafters: ngram (look-up in the sequence itself, in microseconds), or none");
  options.look_up.declare(line, "Resident ngram: ");
  line.option("--head", options.head,
              "Folder of a draft head that was trained for this model: it guesses in this process, from what the model "
              "computed, where that pays; or none. Unset: MODEL-head beside the model, if it is there");
  line.option(
      "--head-at", options.head_at,
      "Where the draft head guesses: verifier, this process, between its steps; drafters, those with --method draft-head, to "
      "which this one sends what the model computed: for cores or a GPU of their own");
  line.option(
      "--head-rule", options.head_rule,
      fmt::format("To compare with: where the head is asked, it drafts chains by this rule, up to the request's nodes, and "
                  "all of them are verified: {}; none: trees, by what their passes and rows cost. Not for rules of the "
                  "ratio family",
                  kChainRuleForms));
  line.flag("--whole-output-layer", options.whole_output_layer,
            "Read the whole output layer for every token. Without it a smaller copy of it says first which part may hold the "
            "likeliest token: the same tokens, sooner");
  line.option("--drain-ms", options.drain_ms, kDrainMsRange,
              "When told to stop, sequences that no other verifier takes over may go on for so long");
  options.declare(line);
  line.others_setting("--advertise");  // the drafter's
}

}  // namespace

std::vector<std::string> verifier_flag_names() {
  VerifierOptions options;
  CommandLine line(kName, "");
  declare(line, options);
  return line.names();
}

std::vector<std::string> verifier_problems(const std::vector<std::string>& arguments, bool form) {
  VerifierOptions options;
  CommandLine line(kName, "");
  declare(line, options);
  return line.problems_of(arguments, [&] {
    (void)drop_repeats(options.router);
    return form ? std::vector<std::string>{} : options.validate();
  });
}

Parsed<VerifierOptions> parse_verifier_options(int argc, const char* const* argv) {
  VerifierOptions options;
  CommandLine line(kName, "Owns the target model: checks draft trees and says every token.");
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
