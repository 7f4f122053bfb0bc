// The pages of a verifier and of a drafter, as their processes write them.
#pragma once

#include <string>

#include "common/metrics/exposition.h"
#include "services/drafter/metrics_page.h"
#include "services/verifier/metrics_page.h"

namespace slipstream {

inline std::string page_of(const VerifierCounters& counters) {
  Exposition page;
  add_verifier_metrics(counters, page);
  return page.text();
}

inline std::string page_of(const DrafterCounters& counters) {
  Exposition page;
  add_drafter_metrics(counters, page);
  return page.text();
}

// A verifier for which one kind of drafter drafts; a row costs a tenth of a step.
inline VerifierCounters busy_verifier(const DraftKind& kind) {
  VerifierCounters counters;
  for (size_t i = 0; i < kCostRows.size(); ++i) counters.step_cost[i] = 0.010 + 0.001 * kCostRows[i];
  counters.draft_kinds.push_back({.kind = kind});
  return counters;
}

// It ends so many steps of two sequences, each with a node of every survival, of which those above
// `right_above` are accepted.
inline void work(VerifierCounters& counters, int steps, double right_above = 0.5) {
  for (int i = 0; i < steps; ++i) {
    counters.step_seconds.observe(0.012);
    counters.draft_kinds.front().waited_seconds += 0.004;
    counters.draft_rounds += 2;
    counters.output_tokens += 4;
    for (size_t bin = 0; bin < kReliabilityBins; ++bin) {
      const double survival = (static_cast<double>(bin) + 0.5) / kReliabilityBins;
      counters.draft_kinds.front().by_survival.verified(survival, survival > right_above);
      counters.draft_kinds.front().by_depth[0].add(survival, survival > right_above);
    }
  }
}

inline void work(DrafterCounters& counters, int jobs) {
  for (int i = 0; i < jobs; ++i) {
    counters.draft_seconds.observe(0.004);
    counters.trees += 2;
    counters.nodes_sent += 8;
    counters.by_levels[3].jobs += 1;
    counters.by_levels[3].levels += 4;
    counters.by_levels[3].seconds += 0.004;
  }
}

}  // namespace slipstream
