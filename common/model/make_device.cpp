#include "common/model/make_device.h"

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

}  // namespace

Result<std::shared_ptr<Device>> make_device(const DeviceOptions& options) {
  if (options.name.kind == DeviceKind::cpu) return cpu_device(options);
  TRY(TorchOptions torch, torch_options(options.name, options.weights));
  torch.threads = options.threads;
  torch.deterministic = options.deterministic;
  return open_torch_device(torch);
}

}  // namespace slipstream
