// The verifier's settings and their defaults. common/config/command_line.h says how a user sets
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/names.h"
#include "common/config/look_up_options.h"
#include "common/config/service_options.h"

namespace slipstream {

// `model` is the target: its weights, config and tokenizer are read.
struct VerifierOptions : WorkerOptions {
  uint32_t sequences = 0;    // at once; 0: as many as device and cache serve well
  uint32_t context_max = 0;  // tokens of one sequence, prompt and output together; 0: the model's own limit
  // Steps may wait for drafts for as long as drafts have saved, plus this percentage of the compute
  // time.
  uint32_t wait_percent = 5;
  uint32_t sampled_wait_us = 1'000'000;        // how long a sequence of the ratio family waits for its tree
  uint32_t step_cost_us = 0;                   // assumed cost of every step; 0: measured
  std::string resident = std::string(kNgram);  // draft method that runs in this process (kResidentNames)
  LookUpOptions look_up;                       // of the resident ngram
  bool whole_output_layer = false;  // computed for every token, also where a part of it decides (model/cpu/cpu_screen.h)
  std::string head;  // folder of the model's draft head; "none"; empty: the one beside the model, if there is one
  std::string head_at = std::string(kHeadHere);  // where it drafts (kHeadPlaces)
  std::string head_rule;                         // one of kChainRuleForms (base/chain_rule.h); empty: trees, by what they cost
  uint32_t drain_ms = 25'000;                    // longest drain: time for sequences that no other verifier takes over

  // A sentence for each wrong setting; empty: all are right. Ranges of numbers are checked by
  // CommandLine, not here.
  std::vector<std::string> validate() const;
};

Parsed<VerifierOptions> parse_verifier_options(int argc, const char* const* argv);
// What the verifier would find wrong with these arguments, or, if `form` is set, with the names and
// types of these alone. It looks at no environment.
std::vector<std::string> verifier_problems(const std::vector<std::string>& arguments, bool form);
std::vector<std::string> verifier_flag_names();  // of the verifier, without dashes

}  // namespace slipstream
