// The counters of the drafter's actor, from its start. The driver publishes copies, which
// services/drafter/metrics_page.h writes to the metrics page.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/base/histogram.h"
#include "common/drafting/method.h"
#include "common/speculation/calibration.h"
#include "common/worker/worker.h"

namespace slipstream {

struct DrafterCounters {
  std::string method, model;  // labels, constant

  // Advances from attached verifiers, and what became of them:
  //   advances = applied + stale + resyncs + busy + leaving + invalid
  uint64_t advances = 0;
  uint64_t applied = 0;  // the sequence began or grew
  uint64_t stale = 0;    // of an older epoch or round, or a repeated one
  uint64_t resyncs = 0;  // it did not fit, so a Resync was sent
  uint64_t busy = 0;     // a limit of sequences or tokens is reached
  uint64_t leaving = 0;  // the drafter is draining
  uint64_t invalid = 0;  // tokens outside the vocabulary or the context limit; counts as a strike

  // Requests for a tree, and what became of them:
  //   asks = trees + empty_trees + asks_overtaken + those in the queue or in the job that runs
  uint64_t asks = 0;
  uint64_t asks_overtaken = 0;          // a newer round came, or the sequence was freed, before the tree was sent
  uint64_t trees = 0, empty_trees = 0;  // Trees sent, with and without nodes
  // Draft nodes; the discarded ones belonged to overtaken asks:
  //   nodes_drafted = nodes_sent + nodes_discarded
  uint64_t nodes_drafted = 0, nodes_sent = 0, nodes_discarded = 0;

  uint64_t sequences_begun = 0, sequences_released = 0, sequences_freed = 0;  // freed: without a Release
  uint64_t live = 0, tokens_held = 0, verifiers = 0;                          // gauges

  uint64_t jobs = 0, failed_jobs = 0;
  // Jobs that answered every ask, by the depth of their deepest tree, at least 1, as
  // kCalibrationDepths has it: what one level more takes.
  struct LevelJobs {
    uint64_t jobs = 0, levels = 0;
    double seconds = 0;
  };
  std::array<LevelJobs, kCalibrationDepths.size()> by_levels{};
  MethodWork work;                            // of the method
  uint64_t attached = 0, attach_refused = 0;  // answers to Attach
  WorkerCounters worker;

  // Faults of peers.
  uint64_t malformed = 0, quarantined = 0, unattached = 0, unknown_tags = 0, misplaced = 0;

  // Duration of a job that had asks. The upper buckets are for a model that prefills a long prompt.
  Histogram<14> draft_seconds{{.00001, .00003, .0001, .0003, .001, .002, .003, .005, .02, .1, .25, .5, 1, 2}};
};

}  // namespace slipstream
