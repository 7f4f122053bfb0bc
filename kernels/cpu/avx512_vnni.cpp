// The avx512_vnni path: the small formats by VPDPBUSD.
#include "kernels/cpu/table.h"

namespace slipstream {

const Kernels kAvx512VnniKernels = kernels_of(CpuPath::avx512_vnni);

}  // namespace slipstream
