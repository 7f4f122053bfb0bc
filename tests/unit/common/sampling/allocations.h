// Counts what this test program has allocated with new.
#pragma once

#include <cstdint>

namespace slipstream {

uint64_t allocations();

}  // namespace slipstream
