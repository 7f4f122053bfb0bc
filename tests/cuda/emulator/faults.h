// What tests ask the emulator: what a launch did wrong, and in which order threads run.
#pragma once

#include <cstdint>
#include <string>

namespace slipstream::emulator {

std::string take_fault();  // of the launches since the last call; empty: none. A launch ends at its first
void set_seed(uint32_t seed);
void check_memory(bool on);  // off for kernels that were compiled without hooks, over memory that no DeviceArray has

}  // namespace slipstream::emulator
