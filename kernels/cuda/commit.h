// Commits: the accepted path of a draft tree becomes context by moves of cache rows.
#pragma once

#include <cstdint>

#include "kernels/cuda/cache.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

struct CommitArgs {
  PagedCache cache;
  const int32_t* moves = nullptr;  // [count, 2] slots: from, to
  int32_t count = 0;
};

// Copies keys and values of every layer and head from one slot to another, one move after the
// other: a move may overwrite what an earlier one has read. Returns the CUDA runtime's error code;
// 0: the kernel is on the stream.
int commit(const CommitArgs& args, Stream stream);

}  // namespace slipstream::cuda
