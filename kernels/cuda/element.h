// The type of the numbers in a tensor or cache that kernels read and write.
#pragma once

#include <cstdint>

namespace slipstream::cuda {

enum class Element : uint8_t { f32, bf16 };

}  // namespace slipstream::cuda
