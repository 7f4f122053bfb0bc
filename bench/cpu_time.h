#pragma once

#include <ctime>

namespace slipstream {

// That this thread has used: what neighbours on the machine take is not in it.
inline double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace slipstream
