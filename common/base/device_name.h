// The names of devices, as `--device` takes them.
//
//   device_name("cuda:1")     kind cuda, ordinal 1
//   device_name("torch-cpu")  kind torch_cpu
//   device_name("gpu")        nullopt
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace slipstream {

enum class DeviceKind : uint8_t {
  cpu,        // our own kernels, row-invariant; needs nothing
  torch_cpu,  // libtorch on a CPU: the reference of the next one
  cuda        // libtorch on a GPU
};

struct DeviceName {
  DeviceKind kind = DeviceKind::cpu;
  int32_t ordinal = 0;  // of a GPU

  bool operator==(const DeviceName&) const = default;
};

inline constexpr std::string_view kCpuDevice = "cpu", kTorchCpuDevice = "torch-cpu", kCudaDevice = "cuda";
inline constexpr std::string_view kDeviceChoices = "cpu, torch-cpu, cuda:N (GPU number N)";
// Values of `--weights` on torch's devices. "file": f32 on a CPU, bf16 on a GPU.
inline constexpr std::array<std::string_view, 4> kTorchWeights{"file", "f32", "bf16", "f16"};
// On GPUs alone: matrices that the file has in fewer than 16 bits stay so. The names of formats
// (kernels/cpu/panels.h) are values there, too.
inline constexpr std::string_view kSmallWeights = "small";
inline constexpr int32_t kGpusMax = 64;  // GPUs of a machine

// "cuda" is "cuda:0".
std::optional<DeviceName> device_name(std::string_view name);

}  // namespace slipstream
