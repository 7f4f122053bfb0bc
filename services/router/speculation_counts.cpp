#include "services/router/speculation_counts.h"

#include <algorithm>

namespace slipstream {

void SpeculationCounts::add(const SpeculationReport& report, const AcceptanceHistogram& histogram, size_t prompt) {
  draft_tokens += uint64_t{report.accepted} + report.rejected + report.unreached;
  accepted_tokens += report.accepted;
  prompt_tokens += prompt;
  cached_tokens += std::min<uint64_t>(report.cached_tokens, prompt);
  for (int length = 1; length <= histogram.longest(); ++length) {
    const auto steps = histogram.of_length(length);
    for (size_t accepted = 0; accepted < steps.size(); ++accepted) {
      drafts += steps[accepted];
      for (size_t at = 0; at < std::min(accepted, kPositionsMax); ++at) accepted_at[at] += steps[accepted];
    }
  }
}

}  // namespace slipstream
