// The boundary between programs and libslipstream_torch.so, which has the devices of libtorch. The
// library is built of the same tree, by the same compiler; both sides carry a hash of the headers
// that they share, and a library with another one is refused.
//
// No type of torch is seen here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/device_name.h"
#include "common/base/result.h"
#include "common/model/device.h"
#include "kernels/exact/quantized_block.h"

namespace slipstream {

// Matrices that stay in few bits, where the device has kernels for them: a GPU.
struct SmallMatrices {
  std::optional<WeightFormat>
      format;  // of all; unset: as format_of() says (row_blocks.h), those of 16 bits and more as the rest
};

struct TorchOptions {
  DeviceName name;                     // torch_cpu or cuda
  int threads = 1;                     // of operations on a CPU
  Type type = Type::f32;               // of matrices, caches and activations; norms and logits are f32 in any case
  std::optional<SmallMatrices> small;  // REQUIRES: type bf16
  bool deterministic = false;          // a row's bits do not depend on the other rows of its step
};

// What the library exports.
inline constexpr const char* kTorchLibrary = "libslipstream_torch.so";
inline constexpr const char* kTorchAbiSymbol = "slipstream_torch_abi";
inline constexpr const char* kTorchDeviceSymbol = "slipstream_torch_device";
using TorchAbi = const char*();                                                    // the hash of its headers
using MakeTorchDevice = Device*(const TorchOptions& options, std::string& error);  // null: see the error

const char* torch_abi();  // the hash of this program's headers

// Opens the library, which stays open, and makes a device. It is looked for beside the program
// and in ../lib/slipstream. Errors: there is none; it cannot be opened; it belongs to another
// build; the device's own.
Result<std::shared_ptr<Device>> open_torch_device(const TorchOptions& options);

}  // namespace slipstream
