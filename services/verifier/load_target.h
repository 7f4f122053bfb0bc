// The target model as the verifier's process has it: loaded, with the cost of its steps measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/config/verifier_config.h"
#include "common/engine/cost_model.h"
#include "common/grammar/grammar.h"
#include "common/model/language_model.h"
#include "common/model/load_report.h"
#include "services/verifier/events.h"

namespace slipstream {

struct LoadedTarget {
  LanguageModel model;
  uint64_t tokenizer = 0;            // its hash
  std::optional<Grammars> grammars;  // none: the model's tokenizer cannot be read, or nothing ends its answers
  LoadReport load;                   // how long the start took
  CostModel cost;                    // of steps
  int32_t cache_blocks = 0;
};

// Reads the model and runs trial steps; the log says how long that took. Errors name the file.
Result<LoadedTarget> load_target(const VerifierOptions& options);

// Of --check-load: does the same, and logs what it takes.
Result<void> check_load(const VerifierOptions& options);

// What must be equal where another verifier goes on with an answer.
std::string numerics_id(const LoadedTarget& target);

// What the actor is told at its start.
VerifierConfig verifier_config(const VerifierOptions& options, const LoadedTarget& target, WorkerProcess process);

// The log's lines once the verifier is ready.
void log_ready(const VerifierConfig& config, const VerifierOptions& options, const LanguageModel& model);

}  // namespace slipstream
