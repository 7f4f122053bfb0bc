// A view of a weight matrix as its file stores it: plain numbers, or GGUF's blocks of 32 or 256
// quantised numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/exact/quantized_block.h"

namespace slipstream {

enum class Dtype : uint8_t { f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs };

// The unit in which a type is stored: one number, or a block of one row's
// (kernels/exact/quantized_block.h and block_runs.h have the layouts).
inline constexpr int32_t kSuperBlockNumbers = 256;
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
      return {.numbers = kBlockNumbers, .bytes = block_bytes(WeightFormat::q8_0)};
    case Dtype::q4_0:
      return {.numbers = kBlockNumbers, .bytes = block_bytes(WeightFormat::q4_0)};
    case Dtype::q4_1:
      return {.numbers = kBlockNumbers, .bytes = block_bytes(WeightFormat::q4_1)};
    case Dtype::q5_0:
      return {.numbers = kBlockNumbers, .bytes = 22};
    case Dtype::q5_1:
      return {.numbers = kBlockNumbers, .bytes = 24};
    case Dtype::iq4_nl:
      return {.numbers = kBlockNumbers, .bytes = 18};
    case Dtype::q2_k:
      return {.numbers = kSuperBlockNumbers, .bytes = 84};
    case Dtype::q3_k:
      return {.numbers = kSuperBlockNumbers, .bytes = 110};
    case Dtype::q4_k:
      return {.numbers = kSuperBlockNumbers, .bytes = 144};
    case Dtype::q5_k:
      return {.numbers = kSuperBlockNumbers, .bytes = 176};
    case Dtype::q6_k:
      return {.numbers = kSuperBlockNumbers, .bytes = 210};
    case Dtype::iq4_xs:
      return {.numbers = kSuperBlockNumbers, .bytes = 136};
  }
  return {};
}

// A matrix [rows, cols]. cols is a multiple of the block's numbers. Valid while its checkpoint
// lives.
struct HostMatrix {
  std::string_view name;
  Dtype dtype = Dtype::bf16;
  int32_t rows = 0, cols = 0;
  std::span<const std::byte> bytes;  // rows * row_bytes(); not aligned: read numbers with memcpy
  // Not 0: the rows are in GGUF's order for the query and key matrices of a llama, and this is the
  // number of heads. Rotary position encoding rotates row i of a head together with row half + i,
  // where half = head_size / 2. Within each head,
  //   GGUF stores the rows    0, half, 1, half + 1, ...       the two partners side by side
  //   Hugging Face            0, 1, ..., half, half + 1, ...  the two halves one after the other
  // row() takes Hugging Face's index in either case.
  int32_t paired_heads = 0;
  float offset = 0;  // read_row() adds it to each number

  size_t row_bytes() const { return static_cast<size_t>(cols / block_of(dtype).numbers) * block_of(dtype).bytes; }

  // The stored bytes of row `index`, in whole blocks.
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
