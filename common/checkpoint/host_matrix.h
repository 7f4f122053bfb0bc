#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace slipstream {

enum class Dtype : uint8_t { f32, f16, bf16 };
constexpr size_t dtype_bytes(Dtype dtype) { return dtype == Dtype::f32 ? 4 : 2; }

// A view of a tensor in a checkpoint, row-major [rows, cols]; a vector is [1, cols]. Valid while the checkpoint lives.
struct HostMatrix {
  std::string_view name;
  Dtype dtype = Dtype::bf16;
  int32_t rows = 0, cols = 0;
  std::span<const std::byte> bytes;  // rows * cols * dtype_bytes(dtype), aligned to 2 at least
};

}  // namespace slipstream
