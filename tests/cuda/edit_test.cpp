// The twin is RowEdits::apply() (common/sampling/row_edits.h), to the bit.
#include "kernels/cuda/edit.h"

#include <bit>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "common/sampling/row_edits.h"
#include "tests/cuda/tensors.h"

namespace slipstream::cuda {
namespace {

struct Case {
  std::vector<float> logits;
  RowEdits edits;
};

std::vector<uint32_t> bits(std::span<const float> logits) {
  std::vector<uint32_t> bits;
  for (const float logit : logits) bits.push_back(std::bit_cast<uint32_t>(std::isnan(logit) ? NAN : logit));
  return bits;
}

// Edits some of the rows of logits, in their order. cases: all of one vocabulary.
std::vector<uint32_t> on_device(const std::vector<Case>& cases, const std::vector<int32_t>& which) {
  const int32_t vocabulary = cases.front().edits.vocabulary;
  std::vector<float> logits;
  for (const Case& each : cases) logits.insert(logits.end(), each.logits.begin(), each.logits.end());
  std::vector<EditedRow> rows;
  std::vector<LogitEdit> edits;
  std::vector<uint32_t> masks;
  for (const int32_t row : which) {
    const RowEdits& own = cases[static_cast<size_t>(row)].edits;
    EditedRow& described = rows.emplace_back(EditedRow{.row = row, .first = static_cast<int32_t>(edits.size())});
    edits.insert(edits.end(), own.penalties.begin(), own.penalties.end());
    described.penalties = static_cast<int32_t>(edits.size());
    edits.insert(edits.end(), own.biases.begin(), own.biases.end());
    described.end = static_cast<int32_t>(edits.size());
    if (own.allowed.empty()) continue;
    described.mask = static_cast<int32_t>(masks.size() / own.allowed.size());
    masks.insert(masks.end(), own.allowed.begin(), own.allowed.end());
  }
  DeviceArray<float> in("logits", logits), out("out", which.size() * static_cast<size_t>(vocabulary));
  DeviceArray<EditedRow> described("rows", rows);
  DeviceArray<LogitEdit> numbers("edits", edits);
  DeviceArray<uint32_t> allowed("masks", masks);
  EXPECT_EQ(edit_rows({.logits = in.data(),
                       .rows = described.data(),
                       .edits = numbers.data(),
                       .masks = allowed.data(),
                       .out = out.data(),
                       .count = static_cast<int32_t>(which.size()),
                       .vocabulary = vocabulary},
                      nullptr),
            0)
      << take_fault();
  return bits(out.host());
}

std::vector<uint32_t> by_twin(const std::vector<Case>& cases, const std::vector<int32_t>& which) {
  std::vector<uint32_t> all;
  for (const int32_t row : which) {
    std::vector<float> logits = cases[static_cast<size_t>(row)].logits;
    cases[static_cast<size_t>(row)].edits.apply(logits);
    const auto own = bits(logits);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Case random_case(int32_t vocabulary, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, 4);
  const auto below = [&](int32_t end) { return static_cast<int32_t>(random() % static_cast<uint64_t>(end)); };
  Case made;
  for (int32_t token = 0; token < vocabulary; ++token) made.logits.push_back(normal(random));
  for (const float odd : {NAN, INFINITY, -INFINITY, -0.0F}) made.logits[static_cast<size_t>(below(vocabulary))] = odd;
  made.edits.begin(vocabulary);
  std::set<TokenId> tokens;
  for (int32_t i = below(vocabulary); i > 0; --i) tokens.insert(below(vocabulary));
  for (const TokenId token : tokens) {
    const auto scale = 0.5F + static_cast<float>(below(100)) / 50;
    made.edits.penalties.push_back({.token = token, .scale = scale, .add = static_cast<double>(normal(random)) * 0.37});
    if (below(2) == 0) made.edits.biases.push_back({.token = token, .add = static_cast<double>(normal(random))});
  }
  if (below(3) > 0) {
    for (int32_t i = below(vocabulary); i > 0; --i) made.edits.forbid(below(vocabulary));
  }
  return made;
}

TEST(CudaEdit, EqualsItsCpuTwinToTheBit) {
  std::mt19937_64 random(1);
  for (const int32_t vocabulary : {1, 31, 32, 257, 8192, 8193, 20'000}) {
    std::vector<Case> cases;
    for (int i = 0; i < 4; ++i) cases.push_back(random_case(vocabulary, random));
    EXPECT_EQ(on_device(cases, {0, 1, 2, 3}), by_twin(cases, {0, 1, 2, 3})) << vocabulary << " tokens";
    EXPECT_EQ(on_device(cases, {1, 3}), by_twin(cases, {1, 3})) << "rows between them have no edits";
  }
}

TEST(CudaEdit, LeavesARowOfMaskedTokensForTheChainToRefuse) {
  std::vector<Case> cases(1);
  cases[0].logits = {1, NAN, INFINITY, -0.0F};
  cases[0].edits.begin(4);
  cases[0].edits.forbid_all();
  EXPECT_EQ(on_device(cases, {0}), bits(std::vector{-INFINITY, NAN, INFINITY, -INFINITY}));
}

}  // namespace
}  // namespace slipstream::cuda
