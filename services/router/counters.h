// The counters of one router process, as a plain struct that the driver publishes
// (metrics/names.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/histogram.h"
#include "common/base/ids.h"
#include "common/base/names.h"
#include "common/messages/control.h"
#include "common/speculation/tuner.h"
#include "services/router/request.h"
#include "services/router/speculation_counts.h"

namespace slipstream {

// What the page `/`, /ready and the worker gauges show of a worker.
struct WorkerFacts {
  Role role = Role::verifier;
  Incarnation incarnation = 0;
  uint32_t pid = 0;            // on its machine; 0: unknown
  std::string what;            // a verifier's numerics id, a drafter's methods and model
  std::string draft_endpoint;  // a drafter's: where verifiers connect
  std::string metrics_endpoint;
  uint32_t sequences = 0;                           // its own count, at the newest heartbeat
  uint32_t assigned = 0;                            // live sequences of this router
  float busy = 0.0F;                                // share of its time spent computing, at the newest heartbeat
  std::optional<double> greedy_gain, coupled_gain;  // a drafter's: tokens that an ask wins (workers.h)
  bool silent = false, stuck = false;
  bool resting = false;  // a verifier: a step of it failed lately, and it gets a request only if no other can
  bool leaving = false, drained = false;
  std::string why_leaving;
};

// A worker that is connected and refused.
struct RefusedFacts {
  Role role = Role::verifier;
  Incarnation incarnation = 0;
  uint32_t pid = 0;
  std::string reason;  // as the worker was told
};
inline constexpr size_t kRefusedNamedMax = 8;  // the page `/` names no more

// Starts by the acceptance rule that was asked for and why another one ran. A repeated Start is not
// counted again.
struct RuleCounts {
  std::array<std::array<uint64_t, kRuleReasons.size()>, kRuleNames.size()> asked{};  // [rule asked for][RuleReason]
  uint64_t plain = 0;                                                                // speculation was off
};

// What the tuner has decided, for pages and metrics.
struct TuningFacts {
  bool tunes = false;         // else the first threshold stays in force
  float first_threshold = 1;  // in force where nothing was decided
  std::vector<TunerSetting> settings;
  TunerCounters counters;
};

struct RouterCounters {
  // Requests by outcome. submitted is the sum of the others, with `waiting` and `live`.
  uint64_t submitted = 0;
  uint64_t stopped = 0, length = 0, abandoned = 0, failed = 0, refused = 0, rejected_full = 0, waited_too_long = 0;
  uint64_t overloaded = 0;         // refused, since they would have waited too long
  uint64_t waiting = 0, live = 0;  // gauges: without a verifier; with one
  double expected_wait_seconds =
      0;                 // gauge: of a request that comes now, before its own prefill; 0 also while no verifier is there
  uint64_t cut = 0;      // of those failed, the ones that the end of the router cut
  bool closing = false;  // it takes no new requests

  uint64_t prompt_tokens = 0;   // of admitted requests
  uint64_t output_tokens = 0;   // delivered, each once
  uint64_t drafted_tokens = 0;  // of output_tokens, those that a drafter had guessed
  SpeculationCounts speculation;
  uint64_t repeated_tokens = 0, gaps = 0, stale = 0, invalid_tokens = 0, quiet = 0;
  uint64_t placed_by_load = 0, placed_by_affinity = 0, moved = 0;  // add up to `starts`; moved: to a less loaded verifier
  RuleCounts rules;                                                // add up to `starts`
  uint64_t starts = 0, starts_repeated = 0, starts_refused = 0, replays = 0, assigns = 0;
  uint64_t retunes = 0;  // Assigns that changed nothing but thresholds

  uint64_t verifiers = 0, drafters = 0;  // gauges: workers that take work
  int32_t context_max = 0;               // gauge: tokens that a request may have, prompt and output together
  uint64_t workers_refused = 0, workers_lost = 0, workers_silenced = 0, workers_stuck = 0;
  uint64_t malformed = 0, quarantined = 0, unknown_tags = 0, strangers = 0;

  Histogram<12> queue_seconds{{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}};    // submit to the first Start
  Histogram<12> first_token_seconds{{.01, .02, .05, .1, .2, .4, .8, 1.5, 3, 6, 12, 60}};  // submit to the first token
  Histogram<12> between_tokens_seconds{
      {.001, .002, .004, .008, .016, .032, .064, .125, .25, .5, 1, 5}};               // of a step's tokens, even shares
  Histogram<12> request_seconds{{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160}};  // submit to the last token

  std::shared_ptr<const std::vector<WorkerFacts>> workers = std::make_shared<const std::vector<WorkerFacts>>();
  std::shared_ptr<const TuningFacts> tuning = std::make_shared<const TuningFacts>();
  std::shared_ptr<const std::vector<RefusedFacts>> refused_now = std::make_shared<const std::vector<RefusedFacts>>();
  uint64_t refused_unnamed = 0;  // gauge: refused workers beyond the kRefusedNamedMax of refused_now
};

}  // namespace slipstream
