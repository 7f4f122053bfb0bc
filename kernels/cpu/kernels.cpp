#include "kernels/cpu/kernels.h"

namespace slipstream {

const Kernels& kernels(CpuPath path) {
  switch (path) {
    case CpuPath::portable:
      return kPortableKernels;
    case CpuPath::avx2:
      return kAvx2Kernels;
    case CpuPath::avx512:
      return kAvx512Kernels;
    case CpuPath::avx512_vnni:
      return kAvx512VnniKernels;
    case CpuPath::avx512_bf16:
      return kAvx512Bf16Kernels;
    case CpuPath::amx:
      return kAmxKernels;
  }
  return kPortableKernels;
}

}  // namespace slipstream
