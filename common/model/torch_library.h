// The boundary between programs and libslipstream_torch.so, which has the devices of libtorch. The
// library is built of the same tree, by the same compiler; both sides carry a hash of the headers
// that they share, and a library with another one is refused.
//
// No type of torch is seen here.
#pragma once

#include <memory>

#include "common/base/result.h"
#include "common/model/device.h"
#include "common/model/torch_options.h"

namespace slipstream {

// What the library exports.
inline constexpr const char* kTorchLibrary = "libslipstream_torch.so";
inline constexpr const char* kTorchAbiSymbol = "slipstream_torch_abi";
inline constexpr const char* kTorchDeviceSymbol = "slipstream_torch_device";
using TorchAbi = const char*();                                              // the hash of its headers
using MakeTorchDevice = Device*(const TorchOptions& options, Error& error);  // null: see the error

const char* torch_abi();  // the hash of this program's headers

// Opens the library, which stays open, and makes a device. It is looked for beside the program
// and in ../lib/slipstream. Errors: there is none; it cannot be opened; it belongs to another
// build; the device's own.
Result<std::shared_ptr<Device>> open_torch_device(const TorchOptions& options);

}  // namespace slipstream
