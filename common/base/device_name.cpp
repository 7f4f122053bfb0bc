#include "common/base/device_name.h"

#include <charconv>

namespace slipstream {

std::optional<DeviceName> device_name(std::string_view name) {
  if (name == kCpuDevice) return DeviceName{.kind = DeviceKind::cpu};
  if (name == kTorchCpuDevice) return DeviceName{.kind = DeviceKind::torch_cpu};
  if (name == kCudaDevice) return DeviceName{.kind = DeviceKind::cuda};
  if (!name.starts_with(kCudaDevice) || name.substr(kCudaDevice.size(), 1) != ":") return std::nullopt;
  const std::string_view digits = name.substr(kCudaDevice.size() + 1);
  DeviceName device{.kind = DeviceKind::cuda};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), device.ordinal);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || device.ordinal < 0 || device.ordinal >= kGpusMax) return std::nullopt;
  return device;
}

}  // namespace slipstream
