// Devices of libtorch: torch-cpu, the reference, and cuda:N. Programs get them through
// common/model/make_device.h, which opens this code as a shared object.
//
// Errors: no such GPU, or no library for it; not enough memory; whatever torch throws, as a
// sentence.
#pragma once

#include <memory>

#include "common/base/result.h"
#include "common/model/device.h"
#include "common/model/torch_library.h"

namespace slipstream {

class CudaKernels;

Result<std::unique_ptr<Device>> make_torch_device(const TorchOptions& options);
// Those kernels on memory of the CPU: how cuda:N is tested where there is no GPU (tests/cuda).
std::unique_ptr<Device> make_torch_device(const TorchOptions& options, std::unique_ptr<CudaKernels> kernels);

}  // namespace slipstream
