#include "common/model/torch/cuda_ops.h"

#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "common/model/processed_row.h"
#include "common/sampling/sample_token.h"
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

// Six rows of a step, four of them with penalties, a bias and perhaps a mask, which once is not
// known; there are more penalties from step to step.
StepPlan step_with_edits(int step, int32_t vocabulary) {
  LogitsProcessor processor({.repetition_penalty = 1.5F, .frequency_penalty = 0.3F, .bias = {{2, 3}, {69, 2}}});
  for (TokenId token = 0; token < 5 + 8 * step; ++token) processor.add_output(std::vector{token % vocabulary});
  TokenMask mask(vocabulary);
  for (TokenId token = step; token < vocabulary; token += 3) mask.allow(token);
  const auto made = step == 3 ? nullptr : std::make_shared<const TokenMask>(mask);
  StepPlan plan = Trial::plan();
  const int32_t index = plan.add_logits_processor(std::make_shared<const LogitsProcessor>(std::move(processor)));
  for (int32_t row = 0; row < 6; ++row) {
    plan.add({.token = row});
    plan.want(
        {.seed = 9, .position = static_cast<uint32_t>(10 * step + row), .params = {.temperature = row == 1 ? 0.0F : 1.0F}});
    if (row == 2 || row == 4) continue;
    const auto token_of = [](int j) { return TokenId{j}; };
    plan.process(row == 3 ? -1 : index, row == 5 ? 0b110 : 0, token_of,
                 row == 0 ? nullptr : std::make_shared<const RowMask>([made] { return made; }));
  }
  return plan;
}

struct Chooses {
  int32_t candidates;  // of a row; 0: its token
  bool deterministic;  // else near-ties are counted
};
class Edits : public testing::TestWithParam<Chooses> {};

// The host's choices from the same logits. The first step has no graph, later ones have one with
// padding.
TEST_P(Edits, AreMadeBeforeARowIsChosenFrom) {
  constexpr int32_t kTokens = 70;
  const auto [candidates, deterministic] = GetParam();
  Trial trial(on_kernels(1, Type::bf16, deterministic).value(), 6);
  const Tensor in = trial.input(kTokens, 1), logits = trial.output(kTokens);
  const Tensor chosen = trial.output(candidates == 0 ? 1 : candidates * kRankedWords, Type::i32);
  trial.body([=, ranks = candidates > 0](Ops& ops) {
    ops.put_columns(in, logits, 0);
    !ranks ? ops.sample_tokens(logits, chosen) : ops.rank(logits, chosen);
  });
  SamplingScratch scratch;
  ProcessedScratch edited;
  for (int step = 0; step < 5; ++step) {
    const StepPlan plan = step_with_edits(step, kTokens);
    const Step view = plan.view();
    trial.run(view);
    const std::vector<float> all = trial.read(logits);
    for (int32_t row = 0; row < 6; ++row) {
      const auto from = processed(view, row, std::span(all).subspan(static_cast<size_t>(row) * kTokens, kTokens), edited);
      const RowSampling& how = view.sampling[static_cast<size_t>(row)];
      std::vector<int32_t> expected{sample_token(from, how, scratch)};
      if (candidates > 0) {
        std::vector<Ranked> ranked(static_cast<size_t>(candidates));
        slipstream::rank(from, how, scratch, ranked);
        expected.resize(static_cast<size_t>(chosen.cols));
        std::memcpy(expected.data(), ranked.data(), expected.size() * sizeof(int32_t));
      }
      const auto* found = static_cast<const int32_t*>(trial.device().host(chosen)) + int64_t{row} * chosen.cols;
      EXPECT_EQ(std::vector(found, found + chosen.cols), expected) << "step " << step << ", row " << row;
      EXPECT_EQ(expected.front() < 0, step == 3 && (row == 1 || row == 3 || row == 5)) << "its mask is not known";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Edits, testing::Values(Chooses{0, true}, Chooses{4, true}, Chooses{0, false}));

TEST_F(CudaOpsTest, CapturesNoStepOfManyRows) {
  const auto network = trial(CudaOps::kGraphRowsMax + 1);
  for (int step = 0; step < 3; ++step) network->run();
  EXPECT_EQ(captures_, 0);
}

}  // namespace
}  // namespace slipstream
