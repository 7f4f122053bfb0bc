// An array of the emulated device's global memory. Kernels may touch its elements and nothing
// around them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/cuda/emulator/memory.h"

namespace slipstream::emulator {

template <class T>
class DeviceArray {
 public:
  // Elements that a kernel must write before it may read them.
  DeviceArray(std::string name, size_t count) : values_(count) { watch(std::move(name), false); }
  // Elements that a kernel reads, and may write unless they are input.
  DeviceArray(std::string name, std::span<const T> values, bool input = true) : values_(values.begin(), values.end()) {
    Region& region = watch(std::move(name), input);
    for (Granule& each : region.granules) each.write.thread = 0;  // by no block
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { memory().remove(begin()); }

  T* data() { return values_.data(); }
  const std::vector<T>& host() const { return values_; }  // what it holds

 private:
  const std::byte* begin() const { return reinterpret_cast<const std::byte*>(values_.data()); }
  Region& watch(std::string name, bool input) {
    values_.reserve(1);  // an address of its own, even if it is empty
    return memory().add({.name = std::move(name),
                         .begin = begin(),
                         .bytes = values_.size() * sizeof(T),
                         .granule_bytes = sizeof(T) < 4 ? sizeof(T) : 4,
                         .input = input,
                         .granules = {}});
  }
  std::vector<T> values_;
};

}  // namespace slipstream::emulator
