// What the flags of `slipstream load` ask for: checked, with their files read.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/load/load.h"
#include "tools/slipstream/load/request_mix.h"
#include "tools/slipstream/load/session.h"
#include "tools/slipstream/load/tally.h"

namespace slipstream::command::load {

// A run to come: its name and its load.
struct PlannedRun {
  std::string name;  // "8 streams", "5 requests/s, bursts of 10", "trace day.jsonl"
  SessionPlan plan;
  double offered = 0;  // streams, or requests a second; 0: of a trace
};

// Error: which flags contradict each other, and what to write instead.
Result<void> check(const LoadOptions& options);

struct Mix {
  std::vector<AskedPrompt> prompts;
  std::vector<Offset> times;  // of a trace; else empty
  std::string system;
  PromptOrder order = PromptOrder::shuffled;
  std::string words;  // for the report
};
// Reads the files. Error: which one cannot be read, and why.
Result<Mix> read_mix(const LoadOptions& options);

// REQUIRES: check(options).
std::vector<PlannedRun> planned_runs(const LoadOptions& options, const Mix& mix);
// The same run for a window of a comparison: its part of the requests and of the time.
PlannedRun window_of(const PlannedRun& run, int pairs, int pair);
Objectives objectives(const LoadOptions& options);

}  // namespace slipstream::command::load
