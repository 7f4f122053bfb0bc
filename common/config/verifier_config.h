// The verifier's settings: flags > environment (SLIPSTREAM_<FLAG>) > file (--config) > these
// defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/service_options.h"

namespace slipstream {

struct VerifierOptions : WorkerOptions {  // model: weights, config and tokenizer are read
  uint32_t context_max = 0;               // tokens of one sequence, prompt and output together; 0: the model's own
  uint32_t wait_percent = 5;              // of the time computed, that steps may wait for drafts beside what drafts saved
  uint32_t sampled_wait_us = 1'000'000;   // that a sequence of the ratio family waits for its tree
  uint32_t step_cost_us = 0;              // that every step is taken to cost; 0: measured
  uint32_t drain_ms = 25'000;             // when told to stop, for sequences that no other verifier takes over

  // Every problem but those of numbers (CommandLine), a sentence each; empty: fine.
  std::vector<std::string> validate() const;
};

Parsed<VerifierOptions> parse_verifier_options(int argc, const char* const* argv);

}  // namespace slipstream
