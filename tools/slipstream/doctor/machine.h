// Checks of the machine: instructions, cores, memory, open files. Each takes what the machine says
// as an argument. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/config/memory_limit.h"
#include "kernels/cpu/path.h"
#include "tools/slipstream/doctor/finding.h"
#include "tools/slipstream/fleet_plan.h"

namespace slipstream::command::doctor {

inline constexpr uint64_t kOpenFilesWanted = 4096;  // connections of clients and workers, files, and room to spare

// The instruction path that is used, and what the next faster one needs.
Finding check_cpu(const CpuFeatures& cpu);

// usable: CPUs that this process may use (cpu_quota()); asked: --threads, 0: all of them.
Finding check_cores(int usable, uint32_t asked, const CpuSplit& split);

// need: bytes of the model and its cache; fewer_bits: a value of --weights that needs less, "":
// none. It fails where they cannot fit, and warns where they do not fit into what is free now.
Finding check_memory(double need, std::string_view fewer_bits, const MachineMemory& memory);

// soft, hard: the limits of open files of a process.
Finding check_open_files(uint64_t soft, uint64_t hard);

}  // namespace slipstream::command::doctor
