// The facts of one drafter's life, as a plain struct that the driver publishes
// (services/drafter/metrics_page.h).
#pragma once

#include <cstdint>

#include "common/base/histogram.h"
#include "common/worker/worker.h"

namespace slipstream {

struct DrafterCounters {
  // Advances by what became of them: advances = the sum of the other six.
  uint64_t advances = 0;
  uint64_t applied = 0;  // the sequence grew, or began
  uint64_t stale = 0;    // older or doubled, by epoch and round
  uint64_t resyncs = 0;  // a gap, another prefix, or never met: asked for the rest
  uint64_t busy = 0;     // over a limit
  uint64_t leaving = 0;  // came after we said that we leave
  uint64_t invalid = 0;  // decoded, but impossible: counts as a strike

  // Asks = trees + empty trees + overtaken + those in the job that runs or waits.
  uint64_t asks = 0;
  uint64_t asks_overtaken = 0;          // a newer round came, or the sequence went, before the tree was sent
  uint64_t trees = 0, empty_trees = 0;  // sent; empty ones carry a reason
  // Nodes drafted = sent + discarded with a tree that a newer round overtook.
  uint64_t nodes_drafted = 0, nodes_sent = 0, nodes_discarded = 0;

  uint64_t sequences_begun = 0, sequences_released = 0, sequences_freed = 0;  // freed: idle, or their verifier went
  uint64_t live = 0, tokens_held = 0, verifiers = 0;                          // gauges

  uint64_t jobs = 0, failed_jobs = 0;
  uint64_t passes = 0, rows = 0, prefix_tokens = 0, evictions = 0;  // of the method's model, if it has one
  uint64_t attached = 0, attach_refused = 0;
  WorkerCounters worker;
  uint64_t malformed = 0, quarantined = 0, unattached = 0, unknown_tags = 0, misplaced = 0;
  // Of one job with all its asks. A model that prefills a long prompt takes seconds.
  Histogram<14> draft_seconds{{.00001, .00003, .0001, .0003, .001, .002, .003, .005, .02, .1, .25, .5, 1, 2}};
};

}  // namespace slipstream
