#include "common/model/torch_library.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string_view>

namespace slipstream {
namespace {

namespace fs = std::filesystem;

// The folders where the library may lie: in a build, and installed. No others, because opening a
// library runs its code.
std::array<fs::path, 2> places() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  return {folder, folder.parent_path() / "lib" / "slipstream"};
}

Result<fs::path> find_library() {
  std::error_code error;
  for (const fs::path& place : places()) {
    if (fs::exists(place / kTorchLibrary, error)) return place / kTorchLibrary;
  }
  return fail(
      "the devices of torch need {}, which is neither beside this program nor in ../lib/slipstream: `make torch` builds "
      "it into build/torch with all programs, for GPUs `make cuda` into build/cuda; or leave --device out",
      kTorchLibrary);
}

// Never closed: torch's threads and registrations outlive any device.
Result<void*> open_library(const fs::path& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail("{} cannot be opened: {}. It needs libtorch 2.11, which `make setup-torch` brings", path.string(), dlerror());
  }
  const auto abi = reinterpret_cast<TorchAbi*>(dlsym(library, kTorchAbiSymbol));
  if (abi == nullptr || std::string_view(abi()) != torch_abi()) {
    return fail("{} belongs to another build ({}; this program is of {}): build both anew with `make torch`", path.string(),
                abi == nullptr ? "it does not say which" : abi(), torch_abi());
  }
  return library;
}

}  // namespace

const char* torch_abi() { return SLIPSTREAM_TORCH_ABI; }

Result<std::shared_ptr<Device>> open_torch_device(const TorchOptions& options) {
  TRY(const fs::path path, find_library());
  TRY(void* library, open_library(path));
  const auto make = reinterpret_cast<MakeTorchDevice*>(dlsym(library, kTorchDeviceSymbol));
  if (make == nullptr) return fail("{} has no {}: build it anew with `make torch`", path.string(), kTorchDeviceSymbol);
  Error error;
  Device* device = make(options, error);
  if (device == nullptr) return std::unexpected(std::move(error));
  return std::shared_ptr<Device>(device);
}

}  // namespace slipstream
