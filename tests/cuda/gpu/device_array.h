// An array in a GPU's memory, with the interface of the emulator's. What no kernel has written is
// NaN, or a number that no test expects.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace slipstream::gpu {

// Throws what CUDA says, if it is an error.
inline void check(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(error));
}

template <class T>
class DeviceArray {
 public:
  DeviceArray(std::string name, size_t count) : name_(std::move(name)), count_(count) {
    check(cudaMalloc(&data_, bytes() + 1), name_);  // an address of its own, even if it is empty
    check(cudaMemset(data_, 0xFF, bytes()), name_);
  }
  DeviceArray(std::string name, std::span<const T> values, bool = true) : DeviceArray(std::move(name), values.size()) {
    check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), name_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() { return static_cast<T*>(data_); }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), name_);
    return values;
  }

 private:
  size_t bytes() const { return count_ * sizeof(T); }
  std::string name_;
  size_t count_;
  void* data_ = nullptr;
};

}  // namespace slipstream::gpu
