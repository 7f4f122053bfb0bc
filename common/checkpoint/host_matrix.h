// A view of a weight matrix as a file stores it: plain numbers, or GGUF's blocks of 32 quantised
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace slipstream {

enum class Dtype : uint8_t { f32, f16, bf16, q8_0, q4_0, q4_1 };

// What is stored together: one number, or along a row 32 of them with their scale (dequantise.h has
// the layouts).
struct StoredBlock {
  int32_t numbers = 1;
  size_t bytes = 0;
};
constexpr StoredBlock block_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return {.numbers = 1, .bytes = 4};
    case Dtype::f16:
    case Dtype::bf16:
      return {.numbers = 1, .bytes = 2};
    case Dtype::q8_0:
      return {.numbers = 32, .bytes = 34};
    case Dtype::q4_0:
      return {.numbers = 32, .bytes = 18};
    case Dtype::q4_1:
      return {.numbers = 32, .bytes = 20};
  }
  return {};
}

// [rows, cols]; cols is a multiple of the block's numbers. Valid while the checkpoint lives.
struct HostMatrix {
  std::string_view name;
  Dtype dtype = Dtype::bf16;
  int32_t rows = 0, cols = 0;
  std::span<const std::byte> bytes;  // rows * row_bytes(), at any address: read by memcpy
  // Not 0: GGUF's order of a llama's query and key rows. In each of so many heads rotary partners
  // stand side by side (0, half, 1, half + 1, ...), where Hugging Face, and row() here, keep the
  // two halves apart.
  int32_t paired_heads = 0;

  size_t row_bytes() const { return static_cast<size_t>(cols / block_of(dtype).numbers) * block_of(dtype).bytes; }

  // The stored bytes of row `index`, whole blocks: a kernel that computes on them keeps the file's
  // numbers as they are.
  std::span<const std::byte> row(int32_t index) const {
    int32_t at = index;
    if (paired_heads > 0) {
      const int32_t head_size = rows / paired_heads, half = head_size / 2, within = index % head_size;
      at = index - within + 2 * (within % half) + within / half;
    }
    return bytes.subspan(static_cast<size_t>(at) * row_bytes(), row_bytes());
  }
};

}  // namespace slipstream
