// Takes tensors from a checkpoint by name and shape, and packs them onto a device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/checkpoint/checkpoint.h"
#include "common/model/device.h"

namespace slipstream {

struct WeightLoader {
  struct Part {
    std::string name;
    int32_t rows;
  };

  const Checkpoint& checkpoint;
  Device* device;                        // null: names and shapes are checked, and all weights are null
  Format matrices;                       // the format of all but gains and biases
  std::function<void(uint64_t)> packed;  // called after each matrix with its size in the file, in bytes; may be empty
  std::vector<const Weight*>& weights;   // receives all that are packed
  float norm_offset = 0;                 // added to gains

  // [cols]
  Result<Weight*> gain(const std::string& name, int32_t cols) const;
  // Matrices that read the same input are stacked into one weight: one pass over the input, one op.
  Result<Weight*> stack(const std::vector<Part>& parts, int32_t cols) const;
  // Vectors, one behind the other, as one column.
  Result<Weight*> column(const std::vector<Part>& parts) const;

 private:
  Result<Weight*> pack(std::span<const HostMatrix> stacked, Format format) const;
};

}  // namespace slipstream
