// What has happened between two readings of one worker, and whether that can be.
#pragma once

#include "common/speculation/worker_reading.h"

namespace slipstream {

// Whether the numbers are numbers: finite and not negative, with no more nodes accepted than
// verified and a table of step costs whose rows rise.
bool possible(const WorkerReading& reading);

struct ReadingChange {
  bool restarted = false;  // a counter fell: the worker's process began anew, and `more` is empty
  WorkerReading more;      // counters: by how much they grew; gauges: as they are now
};

// REQUIRES: both are possible(), and of the same role.
ReadingChange change_of(const WorkerReading& before, const WorkerReading& now);

// Whether a worker can have done that in so many seconds: a step or a job at a time, at most
// kTreeNodesMax + 1 tokens a round, and no node accepted that was not verified.
bool possible(const WorkerReading& more, double seconds);

}  // namespace slipstream
