// The portable path, in plain C++: the reference in the tests of all paths, and the fallback on
// every machine.
#include "kernels/cpu/table.h"

namespace slipstream {

const Kernels kPortableKernels = kernels_of(CpuPath::portable);

}  // namespace slipstream
