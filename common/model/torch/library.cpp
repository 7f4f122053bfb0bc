// What libslipstream_torch.so exports (common/model/torch_library.h).
#include <utility>

#include "common/model/torch/torch_device.h"
#include "common/model/torch_library.h"

#define SLIPSTREAM_EXPORT extern "C" __attribute__((visibility("default")))

SLIPSTREAM_EXPORT const char* slipstream_torch_abi() { return SLIPSTREAM_TORCH_ABI; }

SLIPSTREAM_EXPORT slipstream::Device* slipstream_torch_device(const slipstream::TorchOptions& options,
                                                              slipstream::Error& error) {
  auto device = slipstream::make_torch_device(options);
  if (device) return device->release();
  error = std::move(device.error());
  return nullptr;
}
