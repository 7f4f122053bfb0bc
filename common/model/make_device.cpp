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
Result<Type> torch_type(const DeviceOptions& options) {
  if (options.weights == "file") return options.name.kind == DeviceKind::cuda ? Type::bf16 : Type::f32;
  if (options.weights == "f32") return Type::f32;
  if (options.weights == "bf16") return Type::bf16;
  if (options.weights == "f16") return Type::f16;
  return fail("the devices of torch have no weights {}: choose one of {}", options.weights, fmt::join(kTorchWeights, ", "));
}

}  // namespace

Result<std::shared_ptr<Device>> make_device(const DeviceOptions& options) {
  if (options.name.kind == DeviceKind::cpu) return cpu_device(options);
  TRY(const Type type, torch_type(options));
  return open_torch_device(
      {.name = options.name, .threads = options.threads, .type = type, .deterministic = options.deterministic});
}

}  // namespace slipstream
