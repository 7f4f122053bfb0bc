// What cuda:N has beside torch: the kernels of kernels/cuda, graphs of what was launched, and
// copies. Private to common/model/torch.
//
// It is a shared object of its own, because it needs CUDA's and torch's libraries for GPUs, and
// libslipstream_torch.so opens without them. Tests have one on the emulator of tests/cuda.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "common/base/result.h"
#include "kernels/cuda/attend.h"
#include "kernels/cuda/commit.h"
#include "kernels/cuda/edit.h"
#include "kernels/cuda/gate.h"
#include "kernels/cuda/linear.h"
#include "kernels/cuda/rms_norm.h"
#include "kernels/cuda/rope_store.h"
#include "kernels/cuda/sample.h"
#include "kernels/cuda/weigh.h"

namespace slipstream {

// Everything is put on torch's current stream, in order. All of it throws what CUDA says.
class CudaKernels {
 public:
  // What one call of capture() launched, with the same addresses and sizes each time.
  class Graph {
   public:
    virtual ~Graph() = default;
    virtual void replay() = 0;
  };

  virtual ~CudaKernels() = default;
  virtual void add_rms_norm(const cuda::RmsNormArgs& args) = 0;
  virtual void norm_heads(const cuda::HeadNormArgs& args) = 0;
  virtual void quantized_linear(const cuda::LinearArgs& args) = 0;
  virtual void unpack_rows(const cuda::UnpackArgs& args) = 0;
  virtual void rope_store(const cuda::RopeStoreArgs& args) = 0;
  virtual void attend(const cuda::AttendArgs& args) = 0;
  virtual void silu_gate(const cuda::GateArgs& args) = 0;
  virtual void gelu_gate(const cuda::GateArgs& args) = 0;
  virtual void commit(const cuda::CommitArgs& args) = 0;
  virtual void edit_rows(const cuda::EditArgs& args) = 0;
  virtual void sample_tokens(const cuda::SampleArgs& args) = 0;
  virtual void rank_tokens(const cuda::SampleArgs& args) = 0;
  virtual void weigh_rows(const cuda::WeighArgs& args) = 0;
  virtual void find_token(const cuda::TokenAtArgs& args) = 0;

  // From or to host memory that is pinned.
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  // launch() neither waits nor asks for a result; nothing of it need run yet. It may be called
  // again.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& launch) = 0;
};

// What the shared object exports.
inline constexpr const char* kCudaLibrary = "libslipstream_cuda.so";
inline constexpr const char* kCudaKernelsSymbol = "slipstream_cuda_kernels";
using MakeCudaKernels = CudaKernels*();

// Opens it; it lies beside libslipstream_torch.so. REQUIRES: torch's libraries for GPUs are open.
// Errors: it is not there, or does not fit them.
Result<std::unique_ptr<CudaKernels>> open_cuda_kernels();

}  // namespace slipstream
