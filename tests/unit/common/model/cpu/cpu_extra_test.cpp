// Logits of extra tokens on the cpu device: as the whole output layer gives them.
#include "common/model/cpu/cpu_extra.h"

#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"
#include "tests/unit/common/model/torch/trial.h"

namespace slipstream {
namespace {

constexpr int32_t kCols = 4096, kTokens = 1200, kRows = 2;
constexpr int32_t kPlaces = kExtraRowsBytes / (kCols * 4);
static_assert(3 + 2 * kPlaces < kTokens);

// Rows of tokens that lie kPlaces apart have one place; some are asked for twice, in other orders.
TEST(ExtraLogits, AreThoseOfTheWholeLayerWhoeverAskedBefore) {
  Trial trial(make_cpu_device({.threads = 2, .path = CpuPath::portable, .weights = WeightFormat::bf16}).value(), kRows);
  const Weight* output = trial.weight(kTokens, kCols, 5, Format::matrix, 0.02F);
  const Tensor in = trial.input(kCols, 1), all = trial.output(kTokens), extra = trial.output(kExtraTokens);
  trial.body([=](Ops& ops) {
    ops.linear(in, *output, nullptr, all);
    ops.linear_extra(in, *output, extra);
  });
  const std::vector<std::vector<TokenId>> asks{{3, 3 + kPlaces, 7}, {3 + 2 * kPlaces, 3}, {0, kTokens - 1}, {}};
  for (const std::vector<TokenId>& first : asks) {
    for (const std::vector<TokenId>& second : asks) {
      std::vector<ExtraToken> tokens(kRows * kExtraTokens);
      for (size_t i = 0; i < first.size(); ++i) tokens[i] = {.token = first[i]};
      for (size_t i = 0; i < second.size(); ++i) tokens[kExtraTokens + i] = {.token = second[i], .bonus = 2};
      trial.run(tokens);
      const std::vector<float> whole = trial.read(all), found = trial.read(extra);
      for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(found[i], whole[static_cast<size_t>(first[i])], 1e-4);
      for (size_t i = 0; i < second.size(); ++i) {
        EXPECT_NEAR(found[kExtraTokens + i], whole[kTokens + static_cast<size_t>(second[i])] + 2, 1e-4);
      }
      EXPECT_EQ(found[first.size()], -std::numeric_limits<float>::infinity());
    }
  }
}

// Two models of one device take turns, as a verifier's target and a drafter's do.
TEST(ExtraLogits, AreThoseOfTheLayerThatIsAskedFor) {
  Trial trial(make_cpu_device({.path = CpuPath::portable, .weights = WeightFormat::bf16}).value(), 1);
  const Weight *one = trial.weight(70, 64, 5), *two = trial.weight(70, 64, 6);
  const Tensor in = trial.input(64, 1), all = trial.output(70), extra = trial.output(kExtraTokens);
  for (const Weight* output : {one, two, one}) {
    trial.body([=](Ops& ops) {
      ops.linear(in, *output, nullptr, all);
      ops.linear_extra(in, *output, extra);
    });
    std::vector<ExtraToken> tokens(kExtraTokens);
    tokens[0] = {.token = 33};
    trial.run(tokens);
    EXPECT_NEAR(trial.read(extra)[0], trial.read(all)[33], 1e-3);
  }
}

}  // namespace
}  // namespace slipstream
