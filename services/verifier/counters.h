// The facts of one verifier's life, as a plain struct that the driver publishes (metrics/names.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/histogram.h"
#include "common/drafting/method.h"
#include "common/engine/cost_model.h"
#include "common/messages/shown_names.h"
#include "common/speculation/calibration.h"
#include "common/speculation/reliability.h"
#include "common/worker/worker.h"
#include "services/verifier/fates.h"

namespace slipstream {

// Two drafters of a kind guess the same.
struct DraftKind {
  std::string method;
  std::string model;  // empty: the method has none
  bool operator==(const DraftKind&) const = default;
};
inline const DraftKind kOtherKind{.method = std::string(kOtherMethods), .model = ""};

// What a round did about one of its sequence's drafters, or about the resident method.
enum class RoundAsk : uint8_t {
  asked,            // for a tree
  fails,            // nothing: its trees came late, cost more than they won, or brought nothing too often
  stays_empty,      // nothing: its trees were empty, late beside a lead, or without a node of its own
  nothing_pays,     // nothing: no survival that it says has a chance that pays for a row
  tried_elsewhere,  // nothing: it brings next to nothing, and is asked for another sequence now
  early             // nothing: the prompt is not computed, under a rule of the ratio family or for one that reads features
};
inline constexpr size_t kRoundAsks = 6;

struct DraftKindCounters {
  DraftKind kind;
  Reliability reliability;                    // of its verified nodes
  DepthReliability by_depth{};                // the same nodes
  Reliability by_survival;                    // the same nodes, by the survival that their drafter stated
  std::array<uint64_t, kRoundAsks> rounds{};  // by RoundAsk
  // Gauges: tokens that an ask won lately, less its rows; the mean of its drafters; nullopt: none
  // was asked.
  std::optional<double> greedy_gain = {}, coupled_gain = {};
  bool here = false;            // it drafts in this process
  double answer_seconds = 0;    // gauge: from an Advance to its tree; mean of its drafters; 0: none came
  double drafting_seconds = 0;  // gauge: of that, the draft job, as its drafters say; the rest is transport and queues
  double waited_seconds = 0;    // steps stood ready and waited for trees of it
  uint64_t missed_deadlines = 0, met_deadlines = 0;  // of leads
  uint64_t rounds_verified = 0;                      // with a node that it guessed first
  uint64_t parked = 0, parked_used = 0;              // trees that came ahead of their base; those whose base a commit reached
  uint64_t drafters = 0;                             // gauge: attached
  bool operator==(const DraftKindCounters&) const = default;
};

struct VerifierCounters {
  NodeFates fates;

  uint64_t sequences_started = 0, sequences_refused = 0, sequences_replaced = 0;
  uint64_t sequences_delivered = 0, sequences_cancelled = 0, leases_expired = 0;
  uint64_t live = 0, waiting = 0;  // gauges
  uint64_t preempted = 0;          // lost their cache to an older sequence; computed anew
  uint64_t blocks_free = 0;        // gauge
  uint64_t blocks_kept = 0;        // gauge: by the prefix cache, maybe in use besides
  uint64_t prefix_tokens = 0;      // found there and not computed
  uint64_t prefixes_evicted = 0;   // blocks of it, for want of room
  MethodWork resident;             // of the resident method
  uint64_t prompt_tokens = 0, output_tokens = 0;
  uint64_t near_ties = 0;  // output tokens that other rows in their step might have turned
  uint64_t steps = 0, step_rows = 0;
  uint64_t draft_rounds = 0, plain_rounds = 0;
  uint64_t sampled_given_up = 0;               // rounds of the ratio family that were asked for a tree and went on without
  uint64_t head_passes = 0;                    // of the target's draft head
  uint64_t unwaited_steps = 0;                 // began without a tree that was due, since waiting for it could not be paid for
  std::vector<DraftKindCounters> draft_kinds;  // at most kDraftKindsMax + 1
  double node_price = 0;                       // gauge: tokens that a node must gain to pay for itself, as of the last step
  uint64_t attaches_repeated = 0, attaches_waiting = 0;  // waiting: gauge, links that are up and unanswered
  uint64_t features_sent = 0;
  uint64_t resyncs = 0, non_finite_rows = 0, masked_rows = 0, failed_steps = 0;
  uint64_t grammar_failures = 0;  // sequences whose grammar became too complex
  uint64_t malformed = 0, quarantined = 0, unknown_tags = 0, fenced = 0, links_refused = 0;
  WorkerCounters worker;
  Histogram<10> step_seconds{{.001, .002, .004, .006, .008, .012, .02, .05, .1, .5}};
  StepTimes step_cost{};                                   // gauge: as the cost model has it now
  int32_t step_rows_max = kStepRowsMax;                    // of the device: no step is longer
  double step_overhead = 0;                                // gauge: seconds
  AttentionPrices attention_cost;                          // gauge
  Histogram<6> cost_error{{.02, .05, .1, .2, .5, 1}};      // of what a step took, relative to what was expected
  Histogram<7> affordable_nodes{{0, 1, 2, 4, 8, 16, 32}};  // of a tree, that pay for themselves
  Histogram<10> overhead_seconds{
      {.00005, .0001, .0002, .0003, .0005, .001, .002, .003, .005, .02}};  // round time that is not model time
  Histogram<9> accepted_length{{0, 1, 2, 3, 4, 6, 8, 12, 16}};             // accepted nodes of a verified tree

  uint64_t missed_deadlines() const { return sum(&DraftKindCounters::missed_deadlines); }
  uint64_t met_deadlines() const { return sum(&DraftKindCounters::met_deadlines); }
  uint64_t parked() const { return sum(&DraftKindCounters::parked); }
  uint64_t parked_used() const { return sum(&DraftKindCounters::parked_used); }

 private:
  uint64_t sum(uint64_t DraftKindCounters::* count) const {
    uint64_t sum = 0;
    for (const DraftKindCounters& kind : draft_kinds) sum += kind.*count;
    return sum;
  }
};

}  // namespace slipstream
