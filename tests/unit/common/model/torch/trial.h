// Runs a few ops as a network of their own, on any device: what the parity tests compare. Inputs
// come to the device as rows of a packed table, by Ops::embed, and results leave it in an output,
// so that nothing here knows where a device keeps its numbers.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/model/device.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {

// Numbers that bf16 holds exactly, so that every format of a device has the same ones.
inline std::vector<uint16_t> bf16_numbers(size_t count, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<uint16_t> numbers(count);
  for (uint16_t& each : numbers) {
    const float number = normal(random);
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    each = static_cast<uint16_t>(bits >> 16);
  }
  return numbers;
}

class Trial final : public Network {
 public:
  using Body = std::function<void(Ops& ops)>;

  Trial(std::shared_ptr<Device> device, int32_t rows) : device_(std::move(device)), rows_(rows) {}

  Device& device() { return *device_; }
  // A matrix or, for Format::f32, gains.
  Weight* weight(int32_t out, int32_t in, uint32_t seed, Format format = Format::matrix, float scale = 1) {
    const auto numbers = bf16_numbers(static_cast<size_t>(out) * static_cast<size_t>(in), seed, scale);
    const HostMatrix matrix{
        .name = "trial", .dtype = Dtype::bf16, .rows = out, .cols = in, .bytes = std::as_bytes(std::span(numbers))};
    return device_->pack({&matrix, 1}, format).value();
  }
  // [rows, cols] numbers, written before the body runs.
  Tensor input(int32_t cols, uint32_t seed) {
    inputs_.emplace_back(weight(rows_, cols, seed), scratch(cols));
    return inputs_.back().second;
  }
  Tensor scratch(int32_t cols) { return device_->scratch(rows_, cols, device_->activations()).value(); }
  Tensor output(int32_t cols, Type type = Type::f32) { return device_->output(rows_, cols, type).value(); }
  KvCache* cache(AttentionShape shape, int32_t blocks) {
    caches_.push_back(device_->cache(1, shape, blocks, blocks * kBlockTokens).value());
    return caches_.back();
  }
  FeaturePlane* plane(int32_t cols, int32_t blocks) {
    planes_.push_back(device_->feature_plane(cols, blocks).value());
    return planes_.back();
  }

  void body(Body body) { body_ = std::move(body); }
  // Tokens of the step are rows of the inputs.
  void run(const Step& step) {
    const auto ran = device_->run(*this, step);
    EXPECT_TRUE(ran.has_value()) << ran.error().message;
  }
  // A step without rows whose sequence nobody attends to.
  static StepPlan plan() {
    StepPlan plan;
    plan.blocks_max = 1;
    plan.add_sequence(std::vector<int32_t>{0});
    return plan;
  }
  // The inputs' rows in their order, with these extra tokens.
  void run(std::vector<ExtraToken> extra = {}) {
    StepPlan step = plan();
    step.extra = std::move(extra);
    for (int32_t row = 0; row < rows_; ++row) step.add({.token = row});
    run(step.view());
  }
  std::vector<float> read(Tensor output, int32_t rows) {
    output.rows = rows;
    const auto* at = static_cast<const float*>(device_->host(output));
    return {at, at + int64_t{rows} * output.cols};
  }
  std::vector<float> read(const Tensor& output) { return read(output, rows_); }

  void forward(Ops& ops, Shape shape) const override {
    for (auto [table, tensor] : inputs_) {
      tensor.rows = shape.rows;
      ops.embed(*table, 1, tensor);
    }
    body_(ops);
  }
  std::span<KvCache* const> caches() const override { return caches_; }
  std::span<FeaturePlane* const> planes() const override { return planes_; }

 private:
  std::shared_ptr<Device> device_;
  int32_t rows_;
  Body body_;
  std::vector<std::pair<Weight*, Tensor>> inputs_;
  std::vector<KvCache*> caches_;
  std::vector<FeaturePlane*> planes_;
};

}  // namespace slipstream
