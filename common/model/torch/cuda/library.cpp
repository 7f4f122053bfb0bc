// What libslipstream_cuda.so exports: the kernels on a GPU (common/model/torch/cuda_kernels.h).
#include <stdexcept>
#include <string>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "common/model/torch/cuda_kernels.h"

namespace slipstream {
namespace {

cuda::Stream stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

void check(int error, const char* what) {
  if (error == 0) return;
  throw std::runtime_error(std::string(what) + ": CUDA says " + cudaGetErrorString(static_cast<cudaError_t>(error)));
}

class TorchGraph final : public CudaKernels::Graph {
 public:
  explicit TorchGraph(const std::function<void()>& launch) {
    graph_.capture_begin();
    try {
      launch();
    } catch (...) {
      end_quietly();
      throw;
    }
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  // A stream that still captures could do nothing else.
  void end_quietly() {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {  // the reason is on its way already
    }
  }
  at::cuda::CUDAGraph graph_;
};

class GpuKernels final : public CudaKernels {
 public:
  void add_rms_norm(const cuda::RmsNormArgs& args) override { check(cuda::add_rms_norm(args, stream()), "add_rms_norm"); }
  void norm_heads(const cuda::HeadNormArgs& args) override { check(cuda::norm_heads(args, stream()), "norm_heads"); }
  void quantized_linear(const cuda::LinearArgs& args) override {
    check(cuda::quantized_linear(args, stream()), "quantized_linear");
  }
  void unpack_rows(const cuda::UnpackArgs& args) override { check(cuda::unpack_rows(args, stream()), "unpack_rows"); }
  void rope_store(const cuda::RopeStoreArgs& args) override { check(cuda::rope_store(args, stream()), "rope_store"); }
  void attend(const cuda::AttendArgs& args) override { check(cuda::attend(args, stream()), "attend"); }
  void silu_gate(const cuda::GateArgs& args) override { check(cuda::silu_gate(args, stream()), "silu_gate"); }
  void gelu_gate(const cuda::GateArgs& args) override { check(cuda::gelu_gate(args, stream()), "gelu_gate"); }
  void commit(const cuda::CommitArgs& args) override { check(cuda::commit(args, stream()), "commit"); }
  void edit_rows(const cuda::EditArgs& args) override { check(cuda::edit_rows(args, stream()), "edit_rows"); }
  void sample_tokens(const cuda::SampleArgs& args) override { check(cuda::sample_tokens(args, stream()), "sample_tokens"); }
  void rank_tokens(const cuda::SampleArgs& args) override { check(cuda::rank_tokens(args, stream()), "rank_tokens"); }
  void weigh_rows(const cuda::WeighArgs& args) override { check(cuda::weigh_rows(args, stream()), "weigh_rows"); }
  void find_token(const cuda::TokenAtArgs& args) override { check(cuda::find_token(args, stream()), "find_token"); }

  void copy(void* to, const void* from, size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "a copy");
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& launch) override { return std::make_unique<TorchGraph>(launch); }
};

}  // namespace
}  // namespace slipstream

extern "C" __attribute__((visibility("default"))) slipstream::CudaKernels* slipstream_cuda_kernels() {
  return new slipstream::GpuKernels();
}
