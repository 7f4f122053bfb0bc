// Finding a GPU, waiting for it, and naming what computes: for common/model/torch, and for the
// trainer, which is linked with torch itself.
//
// The library is not linked with the parts of torch that are for GPUs, so that it opens where they
// are not installed. They are opened when a GPU is asked for, and register themselves with torch.
#pragma once

#include <cstdint>
#include <string>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "common/base/result.h"

namespace slipstream {

// Names the GPU for a numerics id. Errors: torch's libraries for GPUs are not there; no driver; no
// such GPU.
Result<std::string> find_gpu(int32_t ordinal);
// A stream of that GPU for everything that a device does.
c10::Stream gpu_stream(int32_t ordinal);
// Names the CPU and the threads, of which torch's sums depend.
std::string cpu_hardware(int threads);

// Until all that was begun on the device has ended. Throws what failed there.
void wait_for(c10::Device device);

}  // namespace slipstream
