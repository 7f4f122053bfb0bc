// Plain C++: what every path is held to, and what runs where nothing better does.
#include "kernels/cpu/table.h"

namespace slipstream {

const Kernels kPortableKernels = kernels_of(CpuPath::portable);

}  // namespace slipstream
