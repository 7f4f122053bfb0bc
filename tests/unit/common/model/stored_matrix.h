// A matrix of random blocks as a file may store it, with scales near 0.01.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <random>
#include <vector>

#include "common/checkpoint/host_matrix.h"
#include "kernels/exact/half.h"

namespace slipstream {

struct StoredMatrix {
  Dtype dtype;
  int32_t rows, cols;
  std::vector<std::byte> bytes;

  // halves: where f16 scales stand in a block, in bytes.
  StoredMatrix(Dtype type, int32_t row_count, int32_t col_count, std::initializer_list<size_t> halves)
      : dtype(type), rows(row_count), cols(col_count), bytes(static_cast<size_t>(row_count) * matrix().row_bytes()) {
    std::mt19937 random(11);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    for (size_t block = 0; block < bytes.size(); block += block_of(type).bytes) {
      for (const size_t at : halves)
        store_half(&bytes[block + at], f32_to_f16(std::normal_distribution<float>(0.01F, 0.002F)(random)));
    }
  }
  HostMatrix matrix() const { return {.name = "stored", .dtype = dtype, .rows = rows, .cols = cols, .bytes = bytes}; }
};

}  // namespace slipstream
