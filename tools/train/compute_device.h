// What a training computes on: libtorch on a CPU, or on a GPU. The rest of the trainer sees an
// at::Device alone, and makes its tensors there.
//
//   TRY(const ComputeDevice compute, ComputeDevice::open(name, threads));
//   at::Tensor batch = at::empty({rows, cols}, staging(compute.device(), at::kFloat));  // on the host
//   at::Tensor there = batch.to(compute.device(), /*non_blocking=*/true);
//
// A GPU computes behind the program: an operation returns before it is done, and whoever reads a
// number waits for all that was begun before it.
#pragma once

#include <string>

#include <c10/core/Device.h>
#include <c10/core/TensorOptions.h>

#include "common/base/device_name.h"
#include "common/base/result.h"
#include "tools/train/checkpoint_file.h"

namespace slipstream::train {

class ComputeDevice {
 public:
  // Sets up this process. threads: of operations on a CPU; 0: as many as it may use CPUs. cpu and
  // torch-cpu are the same here. Errors: no such GPU, or no libraries for it.
  static Result<ComputeDevice> open(const DeviceName& name, int threads);

  at::Device device() const { return device_; }
  bool on_gpu() const { return device_.is_cuda(); }
  int threads() const { return threads_; }
  const std::string& name() const { return name_; }  // for people: "2 threads"
  // What decides the last bits of what is computed. A GPU promises none.
  Conditions rounding() const;

 private:
  ComputeDevice(at::Device device, int threads, std::string name)
      : device_(device), threads_(threads), name_(std::move(name)) {}

  at::Device device_;
  int threads_;
  std::string name_;
};

// Of host tensors that are copied to the device while it computes.
inline c10::TensorOptions staging(at::Device device, at::ScalarType type) {
  return c10::TensorOptions(type).pinned_memory(device.is_cuda());
}

}  // namespace slipstream::train
