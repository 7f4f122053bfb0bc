#include "tools/train/compute_device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>

#include "common/config/cpu_quota.h"
#include "common/model/torch/gpu.h"

namespace slipstream::train {

Result<ComputeDevice> ComputeDevice::open(const DeviceName& name, int threads) {
  threads = threads > 0 ? threads : cpu_quota();
  at::set_num_threads(threads);
  if (name.kind == DeviceKind::cuda) {
    TRY(std::string hardware, find_gpu(name.ordinal));
    return ComputeDevice(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(name.ordinal)), threads, std::move(hardware));
  }
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);  // it would only cost time
  return ComputeDevice(at::kCPU, threads, fmt::format("{} threads", threads));
}

Conditions ComputeDevice::rounding() const {
  if (on_gpu()) return {{kDeviceCondition, "cuda"}};
  return {{kThreadsCondition, fmt::format("{}", threads_)}, {kInstructionsCondition, at::get_cpu_capability()}};
}

}  // namespace slipstream::train
