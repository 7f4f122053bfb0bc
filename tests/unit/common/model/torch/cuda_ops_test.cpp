#include "common/model/torch/cuda_ops.h"

#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/common/model/torch/emulated_kernels.h"
#include "tests/unit/common/model/torch/torch_models.h"
#include "tests/unit/common/model/torch/trial.h"

namespace slipstream {
namespace {

class CountingKernels final : public EmulatedKernels {
 public:
  explicit CountingKernels(int& captures) : captures_(captures) {}
  std::unique_ptr<Graph> capture(const std::function<void()>& launch) override {
    ++captures_;
    return EmulatedKernels::capture(launch);
  }

 private:
  int& captures_;
};

class CudaOpsTest : public testing::Test {
 protected:
  // A network of one norm, run over that many rows.
  std::unique_ptr<Trial> trial(int32_t rows) {
    auto made = std::make_unique<Trial>(device_, rows);
    const Tensor in = made->input(32, 1), out = made->output(32);
    const Weight* gain = made->weight(1, 32, 2, Format::f32);
    made->body([=](Ops& ops) {
      const Tensor normed = in;
      ops.add_rms_norm(in, nullptr, *gain, 1e-5F, normed);
      ops.put_columns(normed, out, 0);
    });
    return made;
  }

  int captures_ = 0;
  std::shared_ptr<Device> device_{make_torch_device({.name = {.kind = DeviceKind::torch_cpu}, .deterministic = true},
                                                    std::make_unique<CountingKernels>(captures_))};
};

TEST_F(CudaOpsTest, CapturesASizeOnceAndReplaysItThen) {
  const auto network = trial(4);
  for (int step = 0; step < 4; ++step) network->run();
  EXPECT_EQ(captures_, 1);
}

// cuBLAS makes itself a handle in each thread, which it cannot while a graph is captured.
TEST_F(CudaOpsTest, RunsAThreadsFirstStepWithoutAGraph) {
  const auto network = trial(4);
  network->run();
  network->run();
  EXPECT_EQ(captures_, 1);
  std::thread([&] { network->run(); }).join();
  EXPECT_EQ(captures_, 1);
}

TEST_F(CudaOpsTest, KnowsANetworkFromOneThatHadItsAddress) {
  std::optional<Trial> network;
  std::vector<float> results[2];
  for (std::vector<float>& result : results) {
    network.emplace(device_, 4);
    network->cache({.heads = 1, .kv_heads = 1, .head_size = 8}, 1);
    const Tensor in = network->input(32, &result == results ? 1 : 2), out = network->output(32);
    network->body([=](Ops& ops) { ops.put_columns(in, out, 0); });
    for (int step = 0; step < 3; ++step) network->run();
    result = network->read(out);
  }
  EXPECT_NE(results[0], results[1]);
  EXPECT_EQ(captures_, 2);
}

TEST_F(CudaOpsTest, CapturesNoStepOfManyRows) {
  const auto network = trial(CudaOps::kGraphRowsMax + 1);
  for (int step = 0; step < 3; ++step) network->run();
  EXPECT_EQ(captures_, 0);
}

}  // namespace
}  // namespace slipstream
