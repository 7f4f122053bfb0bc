// The order in which an epoch takes its items: a function of seed and epoch, so nothing need be
// kept to go on with a training that was cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slipstream::train {

// The numbers [0, count) in the order of that epoch.
std::vector<uint32_t> epoch_order(size_t count, int64_t epoch, uint64_t seed);

}  // namespace slipstream::train
