// Models on the devices of torch.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "common/model/language_model.h"
#include "common/model/torch/torch_device.h"
#include "tests/unit/common/model/models.h"
#ifndef SLIPSTREAM_ON_GPU
#include "tests/unit/common/model/torch/emulated_kernels.h"
#endif

namespace slipstream {

inline Result<std::shared_ptr<Device>> torch_cpu(int threads, Type type = Type::f32, bool deterministic = false) {
  return make_torch_device(
      {.name = {.kind = DeviceKind::torch_cpu}, .threads = threads, .type = type, .deterministic = deterministic});
}

// The device of our own kernels: cuda:0 where the tests run on a GPU (cuda_device_test), else the
// emulator.
inline Result<std::shared_ptr<Device>> on_kernels(int threads, Type type = Type::f32, bool deterministic = true,
                                                  std::optional<SmallMatrices> small = {}) {
  TorchOptions options{.threads = threads, .type = type, .small = small, .deterministic = deterministic};
#ifdef SLIPSTREAM_ON_GPU
  options.name.kind = DeviceKind::cuda;
  return make_torch_device(options);
#else
  options.name.kind = DeviceKind::torch_cpu;
  return std::shared_ptr<Device>(make_torch_device(options, std::make_unique<EmulatedKernels>()));
#endif
}

inline Result<LanguageModel> load_on_torch(const std::filesystem::path& model, Type type = Type::f32,
                                           bool deterministic = false, const ModelOptions& options = {.cache_blocks = 4}) {
  TRY(std::shared_ptr<Device> device, torch_cpu(2, type, deterministic));
  return LanguageModel::load(model, device, options);
}

}  // namespace slipstream
