// What drafts did for all requests of a router that have ended. Plain data, a part of
// RouterCounters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/messages/common.h"
#include "services/router/acceptance_histogram.h"

namespace slipstream {

struct SpeculationCounts {
  static constexpr size_t kPositionsMax = 8;  // that are told apart

  uint64_t drafts = 0;                                // steps with a draft
  uint64_t draft_tokens = 0;                          // nodes that were verified, siblings too
  uint64_t accepted_tokens = 0;                       // of them
  std::array<uint64_t, kPositionsMax> accepted_at{};  // steps that accepted a node at depth 1, 2, ...
  uint64_t prompt_tokens = 0;                         // of requests that a verifier answered
  uint64_t cached_tokens = 0;                         // of them, those that were in its prefix cache

  // A request with `prompt` tokens has ended. report, histogram: over all its verifiers.
  void add(const SpeculationReport& report, const AcceptanceHistogram& histogram, size_t prompt);
};

}  // namespace slipstream
