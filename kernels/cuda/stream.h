// The stream that a launcher puts its kernel on. It is CUDA's own type, declared here so that no
// user of a launcher's header needs CUDA's headers.
#pragma once

struct CUstream_st;

namespace slipstream::cuda {

using Stream = CUstream_st*;  // cudaStream_t; null is the default stream

}  // namespace slipstream::cuda
