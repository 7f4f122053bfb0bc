// Reads what the tuner needs off a worker's metrics page. Pure.
#pragma once

#include "common/base/result.h"
#include "common/metrics/scrape.h"
#include "common/speculation/worker_reading.h"

namespace slipstream {

// Errors: the page is that of no verifier and no drafter, or lacks a number. A verifier's kinds
// beyond kTunedKindsMax are left out.
Result<WorkerReading> read_worker(const Scrape& page);

}  // namespace slipstream
