// Matrices that stay in few bits, on the device of our own kernels, against torch in f32 over the
// numbers that the file stands for.
#include "common/model/torch/small_weight.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/model/stored_matrix.h"
#include "tests/unit/common/model/torch/torch_models.h"
#include "tests/unit/common/model/torch/trial.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int32_t kIn = 256;

struct Stored : StoredMatrix {
  Stored(Dtype type, int32_t count, std::initializer_list<size_t> halves) : StoredMatrix(type, count, kIn, halves) {}
};

Stored q8_0(int32_t rows) { return {Dtype::q8_0, rows, {0}}; }
Stored q4_k(int32_t rows) { return {Dtype::q4_k, rows, {0, 2}}; }
Stored q6_k(int32_t rows) { return {Dtype::q6_k, rows, {208}}; }
Stored bf16(int32_t rows) { return {Dtype::bf16, rows, {0}}; }

std::shared_ptr<Device> small_device(SmallMatrices small = {}) { return on_kernels(2, Type::bf16, true, small).value(); }

// Runs it as a step alone, as one that is captured, and as one that is replayed; returns their
// result, which is the same.
std::vector<float> result_of(Trial& trial, const Tensor& out, const std::vector<ExtraToken>& extra = {}) {
  trial.run(extra);
  const std::vector<float> first = trial.read(out);
  for (int step = 0; step < 2; ++step) {
    trial.run(extra);
    EXPECT_EQ(trial.read(out), first);
  }
  return first;
}

// What the stack gives `rows` random rows: [rows, rows of all matrices].
std::vector<float> product(std::shared_ptr<Device> device, std::span<const HostMatrix> stack, int32_t rows, bool with_bias) {
  Trial trial(std::move(device), rows);
  const Weight* weight = trial.device().pack(stack, Format::matrix).value();
  const Weight* bias = trial.weight(weight->out, 1, 4, Format::f32);
  const Tensor in = trial.input(kIn, 1), result = trial.scratch(weight->out), out = trial.output(weight->out);
  trial.body([=](Ops& ops) {
    ops.linear(in, *weight, with_bias ? bias : nullptr, result);
    ops.put_columns(result, out, 0);
  });
  return result_of(trial, out);
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  float size = 0;
  for (const float each : expected) size = std::max(size, std::abs(each));
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], size * 0x1p-8F) << "number " << i;
}

TEST(SmallWeight, GivesTheProductsOfWhatTheFileStandsFor) {
  const Stored kinds[] = {q8_0(70),
                          {Dtype::q4_0, 70, {0}},
                          {Dtype::q4_1, 70, {0, 2}},
                          {Dtype::q5_1, 70, {0, 2}},
                          {Dtype::q5_0, 70, {0}},
                          q4_k(70),
                          {Dtype::q5_k, 70, {0, 2}},
                          q6_k(70),
                          {Dtype::iq4_nl, 70, {0}}};
  for (const Stored& stored : kinds) {
    const HostMatrix matrix = stored.matrix();
    for (const int32_t rows : {1, 9, 70}) {
      SCOPED_TRACE(fmt::format("type {}, {} rows", static_cast<int>(stored.dtype), rows));
      expect_near(product(small_device(), {&matrix, 1}, rows, rows == 9),
                  product(torch_cpu(2).value(), {&matrix, 1}, rows, rows == 9));
    }
  }
}

TEST(SmallWeight, KeepsTheFormatsOfAStack) {
  const Stored queries = q4_k(40), keys = q4_k(12), values = q6_k(20);
  const HostMatrix stack[] = {queries.matrix(), keys.matrix(), values.matrix()};
  expect_near(product(small_device(), stack, 5, true), product(torch_cpu(2).value(), stack, 5, true));
  const auto device = small_device();
  const Weight* packed = device->pack(stack, Format::matrix).value();
  EXPECT_THAT(device->numerics_id({&packed, 1}), HasSubstr("/bf16+q4_1+q6_k/"));
}

TEST(SmallWeight, GivesTheRowsThatTokensAndExtraTokensAskFor) {
  const Stored table = q6_k(30);
  const HostMatrix matrix = table.matrix();
  const auto run = [&](std::shared_ptr<Device> device) {
    Trial trial(std::move(device), 4);  // a step of a graph has a power of two of rows
    const Weight* weight = trial.device().pack({&matrix, 1}, Format::matrix).value();
    const Tensor in = trial.input(kIn, 1), rows = trial.scratch(kIn);
    const Tensor out = trial.output(kIn + kExtraTokens), extra = trial.output(kExtraTokens);
    trial.body([=](Ops& ops) {
      ops.embed(*weight, 2, rows);
      ops.put_columns(rows, out, 0);
      ops.linear_extra(in, *weight, extra);
      ops.put_columns(extra, out, kIn);
    });
    std::vector<ExtraToken> tokens(4 * kExtraTokens);
    tokens[0] = {.token = 29, .bonus = 0.5F};
    tokens[2 * kExtraTokens] = {.token = 8};
    std::vector<float> found = result_of(trial, out, tokens);
    for (float& each : found) each = std::isinf(each) ? -100 : each;  // no token
    return found;
  };
  const std::vector<float> found = run(small_device()), expected = run(torch_cpu(2).value());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 0.01 + std::abs(expected[i]) * 0x1p-6) << i;
}

TEST(SmallWeight, IsMadeInTheFormatThatIsAskedFor) {
  const Stored stored = bf16(24);
  const HostMatrix matrix = stored.matrix();
  const auto device = small_device({.format = WeightFormat::q8_0});
  const Weight* packed = device->pack({&matrix, 1}, Format::matrix).value();
  EXPECT_THAT(device->numerics_id({&packed, 1}), HasSubstr("/bf16+q8_0/"));
}

TEST(SmallWeight, StaysWideWhereItIsStoredWide) {
  const Stored small = q8_0(8), wide = bf16(8);
  const HostMatrix stack[] = {small.matrix(), wide.matrix()};
  const auto device = small_device();
  const Weight* packed = device->pack(stack, Format::matrix).value();
  EXPECT_THAT(device->numerics_id({&packed, 1}), Not(HasSubstr("q8_0")));
}

TEST(SmallWeight, IsRefusedWhereANumberIsNotFinite) {
  Stored stored = q4_k(3);
  store_half(stored.bytes.data() + stored.matrix().row_bytes(), 0x7C00);  // infinity, in the second row
  const HostMatrix matrix = stored.matrix();
  const auto packed = small_device()->pack({&matrix, 1}, Format::matrix);
  ASSERT_FALSE(packed.has_value());
  EXPECT_THAT(packed.error().message, HasSubstr("stored"));
}

}  // namespace
}  // namespace slipstream
