// Models on torch's device for a CPU.
#pragma once

#include <filesystem>
#include <memory>

#include "common/model/language_model.h"
#include "common/model/torch/torch_device.h"
#include "tests/unit/common/model/models.h"

namespace slipstream {

inline Result<std::shared_ptr<Device>> torch_cpu(int threads, Type type = Type::f32, bool deterministic = false) {
  return make_torch_device(
      {.name = {.kind = DeviceKind::torch_cpu}, .threads = threads, .type = type, .deterministic = deterministic});
}

inline Result<LanguageModel> load_on_torch(const std::filesystem::path& model, Type type = Type::f32,
                                           bool deterministic = false, const ModelOptions& options = {.cache_blocks = 4}) {
  TRY(std::shared_ptr<Device> device, torch_cpu(2, type, deterministic));
  return LanguageModel::load(model, device, options);
}

}  // namespace slipstream
