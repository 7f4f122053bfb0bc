// The type of the numbers in a tensor or cache that kernels read and write.
#pragma once

#include <cstdint>

namespace slipstream::cuda {

enum class Element : uint8_t { f32, bf16, f16 };

constexpr int32_t bytes_of(Element element) { return element == Element::f32 ? 4 : 2; }

}  // namespace slipstream::cuda
