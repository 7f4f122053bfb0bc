// Measures CPU time of the calling thread.
#pragma once

#include <ctime>

namespace slipstream {

// Returns the CPU time that this thread has used. Other load on the machine does not count.
inline double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace slipstream
