// Matrices that stay in few bits on a GPU (kernels/cuda/linear.h). Private to common/model/torch.
#pragma once

#include <span>
#include <vector>

#include "common/checkpoint/host_matrix.h"
#include "common/model/torch/torch_types.h"
#include "common/model/torch_options.h"

namespace slipstream {

// A stack of matrices in the formats that the options ask for, neighbours of one format as one
// part. No parts if one of the matrices has no such format: it is stored in 16 bits or more and
// none is asked for, or its columns are no multiple of 32. Errors: a number that is not finite.
// REQUIRES: equal columns.
Result<std::vector<SmallPart>> pack_small(std::span<const HostMatrix> stacked, const SmallMatrices& small,
                                          const TorchPlace& place);

}  // namespace slipstream
