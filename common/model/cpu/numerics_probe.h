// Fixed products, computed by the kernels of a path on this processor, as hashes of their bits.
// Vendors specify VDPBF16PS alike, but a numerics id must not rely on all of them rounding alike:
// if two processors differ, so do their ids.
#pragma once

#include <cstdint>

#include "kernels/cpu/kernels.h"

namespace slipstream {

// Adds one product of a matrix in this format to a hash.
uint32_t probe_linear(const Kernels& kernels, WeightFormat format, uint32_t hash);
// Adds the attention of one row of a tree: a whole block, a part of one, and an ancestor.
uint32_t probe_attention(const Kernels& kernels, uint32_t hash);

}  // namespace slipstream
