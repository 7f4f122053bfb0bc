// The avx2 path: AVX2 with FMA and F16C.
#include "kernels/cpu/table.h"

namespace slipstream {

const Kernels kAvx2Kernels = kernels_of(CpuPath::avx2);

}  // namespace slipstream
