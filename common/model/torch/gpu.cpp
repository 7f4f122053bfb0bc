#include "common/model/torch/gpu.h"

#include <dlfcn.h>

#include <filesystem>

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "common/model/torch/cuda_kernels.h"

namespace slipstream {

namespace {

constexpr const char* kGpuLibrary = "libtorch_cuda.so";
constexpr const char* kDriverLibrary = "libcuda.so.1";
constexpr int kNameBytesMax = 96;

// What the driver calls the GPU: "NVIDIA H100 80GB HBM3".
std::string name_of_gpu(int32_t ordinal) {
  void* driver = dlopen(kDriverLibrary, RTLD_NOW);
  if (driver == nullptr) return "unnamed GPU";
  const auto start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto find = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  const auto tell = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  char name[kNameBytesMax] = {};
  int device = 0;
  const bool all = start != nullptr && find != nullptr && tell != nullptr;
  const bool told = all && start(0) == 0 && find(&device, ordinal) == 0 && tell(name, kNameBytesMax - 1, device) == 0;
  return told ? name : "unnamed GPU";
}

}  // namespace

Result<std::string> find_gpu(int32_t ordinal) {
  if (dlopen(kGpuLibrary, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return fail(
        "cuda:{} needs {} of torch 2.11 for CUDA 13, of no other version, and CUDA's own libraries: put the folder of that "
        "installed torch (torch/lib) into LD_LIBRARY_PATH, or use --device cpu ({})",
        ordinal, kGpuLibrary, dlerror());
  }
  const at::CUDAHooksInterface& cuda = at::detail::getCUDAHooks();
  const int gpus = cuda.hasCUDA() ? cuda.getNumGPUs() : 0;
  if (gpus == 0)
    return fail_for_now("cuda:{} is not there: CUDA finds no GPU or no driver on this machine (nvidia-smi says which)",
                        ordinal);
  if (ordinal >= gpus) return fail_for_now("cuda:{} is not there: the last GPU of this machine is cuda:{}", ordinal, gpus - 1);
  return fmt::format("cuda {}/{}", cuda.versionCUDART(), name_of_gpu(ordinal));
}

c10::Stream gpu_stream(int32_t ordinal) {
  const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(ordinal));
  return c10::impl::VirtualGuardImpl(c10::kCUDA).getStreamFromGlobalPool(device);
}

// Beside this library, which is a link in a build.
Result<std::unique_ptr<CudaKernels>> open_cuda_kernels() {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&open_cuda_kernels), &own);
  std::error_code error;
  const auto path = std::filesystem::canonical(own.dli_fname, error).parent_path() / kCudaLibrary;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail("{} cannot be opened: {}. `make cuda` builds it; it needs torch 2.11 for CUDA 13", path.string(), dlerror());
  }
  const auto make = reinterpret_cast<MakeCudaKernels*>(dlsym(library, kCudaKernelsSymbol));
  if (make == nullptr) return fail("{} has no {}: build it anew with `make cuda`", path.string(), kCudaKernelsSymbol);
  return std::unique_ptr<CudaKernels>(make());
}

std::string cpu_hardware(int threads) { return fmt::format("cpu/{}/{} threads", at::get_cpu_capability(), threads); }

void wait_for(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

}  // namespace slipstream
