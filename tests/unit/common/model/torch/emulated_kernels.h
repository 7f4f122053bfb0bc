// The kernels of cuda:N on the emulator of tests/cuda, over memory of the CPU: a device that does
// all that cuda:N does, but for torch's part, where there is no GPU.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/model/torch/cuda_kernels.h"
#include "tests/cuda/emulator/faults.h"

namespace slipstream {

class EmulatedKernels : public CudaKernels {
 public:
  // Runs once more what was captured.
  class Again final : public Graph {
   public:
    explicit Again(std::function<void()> launch) : launch_(std::move(launch)) {}
    void replay() override { launch_(); }

   private:
    std::function<void()> launch_;
  };

  EmulatedKernels() { emulator::check_memory(false); }

  void add_rms_norm(const cuda::RmsNormArgs& args) override { check(cuda::add_rms_norm(args, nullptr), "add_rms_norm"); }
  void norm_heads(const cuda::HeadNormArgs& args) override { check(cuda::norm_heads(args, nullptr), "norm_heads"); }
  void quantized_linear(const cuda::LinearArgs& args) override {
    check(cuda::quantized_linear(args, nullptr), "quantized_linear");
  }
  void unpack_rows(const cuda::UnpackArgs& args) override { check(cuda::unpack_rows(args, nullptr), "unpack_rows"); }
  void rope_store(const cuda::RopeStoreArgs& args) override { check(cuda::rope_store(args, nullptr), "rope_store"); }
  void attend(const cuda::AttendArgs& args) override { check(cuda::attend(args, nullptr), "attend"); }
  void silu_gate(const cuda::GateArgs& args) override { check(cuda::silu_gate(args, nullptr), "silu_gate"); }
  void gelu_gate(const cuda::GateArgs& args) override { check(cuda::gelu_gate(args, nullptr), "gelu_gate"); }
  void commit(const cuda::CommitArgs& args) override { check(cuda::commit(args, nullptr), "commit"); }
  void edit_rows(const cuda::EditArgs& args) override { check(cuda::edit_rows(args, nullptr), "edit_rows"); }
  void sample_tokens(const cuda::SampleArgs& args) override { check(cuda::sample_tokens(args, nullptr), "sample_tokens"); }
  void rank_tokens(const cuda::SampleArgs& args) override { check(cuda::rank_tokens(args, nullptr), "rank_tokens"); }
  void weigh_rows(const cuda::WeighArgs& args) override { check(cuda::weigh_rows(args, nullptr), "weigh_rows"); }
  void find_token(const cuda::TokenAtArgs& args) override { check(cuda::find_token(args, nullptr), "find_token"); }

  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  std::unique_ptr<Graph> capture(const std::function<void()>& launch) override {
    launch();
    return std::make_unique<Again>(launch);
  }

 private:
  static void check(int error, const char* what) {
    const std::string fault = emulator::take_fault();
    if (error != 0 || !fault.empty()) throw std::runtime_error(std::string(what) + ": " + fault);
  }
};

}  // namespace slipstream
