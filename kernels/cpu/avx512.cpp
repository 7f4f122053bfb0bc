// The avx512 path: AVX-512 F, BW, DQ, VL.
#include "kernels/cpu/table.h"

namespace slipstream {

const Kernels kAvx512Kernels = kernels_of(CpuPath::avx512);

}  // namespace slipstream
