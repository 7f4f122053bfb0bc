#include "common/model/torch/gpu.h"

#include <dlfcn.h>

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

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
        "cuda:{} needs {} of torch 2.11 and CUDA's own libraries: put the folder of an installed torch (torch/lib) into "
        "LD_LIBRARY_PATH, or use --device cpu ({})",
        ordinal, kGpuLibrary, dlerror());
  }
  const at::CUDAHooksInterface& cuda = at::detail::getCUDAHooks();
  const int gpus = cuda.hasCUDA() ? cuda.getNumGPUs() : 0;
  if (gpus == 0)
    return fail("cuda:{} is not there: CUDA finds no GPU or no driver on this machine (nvidia-smi says which)", ordinal);
  if (ordinal >= gpus)
    return fail("cuda:{} is not there: this machine has {} GPUs, cuda:0 to cuda:{}", ordinal, gpus, gpus - 1);
  return fmt::format("cuda {}/{}", cuda.versionCUDART(), name_of_gpu(ordinal));
}

std::string cpu_hardware(int threads) { return fmt::format("cpu/{}/{} threads", at::get_cpu_capability(), threads); }

void wait_for(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

}  // namespace slipstream
