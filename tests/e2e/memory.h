// How much memory a process has in use, and had at most, from /proc.
#pragma once

#include <sys/types.h>

namespace slipstream::e2e {

struct Memory {  // resident, MiB
  double now = 0;
  double peak = 0;  // since forget_peak(), or the process's begin
};

Memory memory_of(pid_t pid);  // throws where it has ended
void forget_peak(pid_t pid);

}  // namespace slipstream::e2e
