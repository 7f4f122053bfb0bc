#include "common/model/make_device.h"

#include <fmt/ranges.h>

#include "common/model/cpu/cpu_device.h"
#include "common/model/torch_library.h"

namespace slipstream {
namespace {

Result<std::shared_ptr<Device>> cpu_device(const DeviceOptions& options) {
  TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = options.threads,
                                                       .path = cpu_path(options.path),                // "auto" names none
                                                       .weights = weight_format(options.weights)}));  // nor does "file"
  return device;
}

// "file": what is exact on a CPU, and what GPUs are made for.
Result<TorchOptions> torch_options(const DeviceOptions& options) {
  TorchOptions made{
      .name = options.name, .threads = options.threads, .type = Type::bf16, .deterministic = options.deterministic};
  const bool gpu = options.name.kind == DeviceKind::cuda;
  if (options.weights == "bf16" || (gpu && options.weights == "file")) return made;
  if (gpu && options.weights == kSmallWeights) {
    made.small.emplace();
  } else if (const auto format = weight_format(options.weights); gpu && format) {
    made.small = {.format = format};
  } else if (options.weights == "f32" || options.weights == "file") {
    made.type = Type::f32;
  } else if (options.weights == "f16") {
    made.type = Type::f16;
  } else {
    return fail("{} has no weights {}: choose one of {}{}", gpu ? "cuda:N" : "torch-cpu", options.weights,
                fmt::join(kTorchWeights, ", "), gpu ? ", small or a format of few bits" : "");
  }
  return made;
}

}  // namespace

Result<std::shared_ptr<Device>> make_device(const DeviceOptions& options) {
  if (options.name.kind == DeviceKind::cpu) return cpu_device(options);
  TRY(const TorchOptions torch, torch_options(options));
  return open_torch_device(torch);
}

}  // namespace slipstream
