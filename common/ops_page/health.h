// What /health of every process says: whether it gets on. What supervises a process ends one that
// does not, and starts it again.
#pragma once

#include <chrono>
#include <string>

#include "common/runtime/progress.h"

namespace slipstream {

// A loop turns each second when it has nothing to do, and each event takes milliseconds.
inline constexpr std::chrono::milliseconds kLoopStuck{10'000};

// Why a process is stuck, as a sentence; "": it is not. job_stuck: how long a job may run.
std::string why_stuck(const Standstill& still, std::chrono::milliseconds job_stuck);

}  // namespace slipstream
