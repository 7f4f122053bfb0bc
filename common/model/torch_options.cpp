#include "common/model/torch_options.h"

#include <fmt/ranges.h>

#include "kernels/cpu/panels.h"

namespace slipstream {

Result<TorchOptions> torch_options(DeviceName name, std::string_view weights) {
  TorchOptions made{.name = name, .type = Type::bf16};
  const bool gpu = name.kind == DeviceKind::cuda;
  if (weights == "bf16" || (gpu && weights == "file")) return made;
  if (gpu && weights == kSmallWeights) {
    made.small.emplace();
  } else if (const auto format = weight_format(weights); gpu && format) {
    made.small = {.format = format};
  } else if (weights == "f32" || weights == "file") {
    made.type = Type::f32;
  } else if (weights == "f16") {
    made.type = Type::f16;
  } else {
    return fail("{} has no weights {}: choose one of {}{}", gpu ? "cuda:N" : "torch-cpu", weights,
                fmt::join(kTorchWeights, ", "), gpu ? ", small or a format of few bits" : "");
  }
  return made;
}

}  // namespace slipstream
