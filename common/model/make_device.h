// Makes a device by its name: the composition root of models. Everything else sees Device alone.
//
//   TRY(std::shared_ptr<Device> device, make_device({.name = {.kind = DeviceKind::torch_cpu}, .threads = 2}));
//
// The devices of libtorch are in a shared object, libslipstream_torch.so, that is opened when one
// of them is asked for. A process that asks for none opens no library of torch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/device_name.h"
#include "common/base/result.h"
#include "common/model/device.h"

namespace slipstream {

struct DeviceOptions {
  DeviceName name;
  int threads = 1;               // including the caller's, at most kComputeThreadsMax
  std::string path = "auto";     // of the cpu device (kernels/cpu/path.h)
  std::string weights = "file";  // or a format of kernels/cpu/panels.h; of torch's: torch_options()
  bool deterministic = false;    // of torch's: a row's bits do not depend on the others. The cpu device always is
};

// Errors say which option or which library is wrong, and what to do.
Result<std::shared_ptr<Device>> make_device(const DeviceOptions& options);

}  // namespace slipstream
