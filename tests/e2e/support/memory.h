// The memory that a process has in use, and the most it has had, from /proc.
#pragma once

#include <sys/types.h>

namespace slipstream::e2e {

struct Memory {  // resident, MiB
  double now = 0;
  double peak = 0;  // since forget_peak(), or since the process began
};

Memory memory_of(pid_t pid);  // throws if the process has ended
void forget_peak(pid_t pid);

}  // namespace slipstream::e2e
