// Several networks on one device: each gives what it gives alone, to the bit, and touches rows of
// its own cache only.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

constexpr int32_t kTokens = 40;  // of each text: more than a block

std::shared_ptr<Device> device_of(int threads) { return make_cpu_device({.threads = threads}).value(); }

LanguageModel load_on(const std::shared_ptr<Device>& device, const char* folder) {
  auto model = LanguageModel::load(test_data(folder), device, {.cache_blocks = 4});
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return *std::move(model);
}

// One sequence of a model, fed a few tokens a step.
class Text {
 public:
  explicit Text(LanguageModel model) : model_(std::move(model)) { EXPECT_TRUE(blocks_.reserve(2 * kTokens)); }

  // The logits of the next `count` tokens as one chunk.
  std::vector<float> feed(int32_t count) {
    std::vector<TokenId> tokens;
    for (int32_t i = 0; i < count; ++i) tokens.push_back(4 + ((length_ + i) * 7) % (model_.config().vocabulary - 4));
    Rows rows(4);
    rows.prompt(rows.sequence_of(blocks_), blocks_, tokens, length_);
    rows.moves = std::move(moves_);
    moves_.clear();
    length_ += count;
    const auto sampled_tokens = model_.run(rows.view());
    EXPECT_TRUE(sampled_tokens.has_value()) << sampled_tokens.error().message;
    return {model_.logits().begin(), model_.logits().end()};
  }
  // The next step moves each row of the text one place down, over the first.
  void shift() {
    for (int32_t at = 1; at < length_; ++at) moves_.push_back({.from = blocks_.slot(at), .to = blocks_.slot(at - 1)});
  }

 private:
  LanguageModel model_;
  BlockPool pool_{4};
  BlockTable blocks_{pool_};
  int32_t length_ = 0;
  std::vector<KvMove> moves_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Two of other shapes, then one of the first's own.
constexpr const char* kFolders[] = {"tiny-llama", "tiny-qwen3", "tiny-qwen2", "tiny-llama"};

TEST(SharedDevice, GivesEachNetworkTheBitsOfADeviceOfItsOwn) {
  for (const int threads : {1, 2}) {
    const auto device = device_of(threads);
    std::vector<std::unique_ptr<Text>> together, alone;
    for (const char* folder : kFolders) {
      together.push_back(std::make_unique<Text>(load_on(device, folder)));
      alone.push_back(std::make_unique<Text>(load_on(device_of(threads), folder)));
    }
    for (int32_t fed = 0; fed < kTokens; fed += 5) {
      for (size_t i = 0; i < together.size(); ++i) {
        ASSERT_TRUE(same_bits(together[i]->feed(5), alone[i]->feed(5))) << kFolders[i] << " at " << fed;
      }
    }
  }
}

TEST(SharedDevice, NamesEachNetworksNumericsAsAlone) {
  const auto device = device_of(1);
  const LanguageModel first = load_on(device, "tiny-llama"), second = load_on(device, "tiny-qwen3");
  EXPECT_EQ(first.numerics_id(), load_on(device_of(1), "tiny-llama").numerics_id());
  EXPECT_EQ(second.numerics_id(), load_on(device_of(1), "tiny-qwen3").numerics_id());
}

TEST(SharedDevice, MovesRowsOfTheRunningNetworkAlone) {
  const auto device = device_of(2);
  Text moved(load_on(device, "tiny-llama")), beside(load_on(device, "tiny-llama")), alone(load_on(device_of(2), "tiny-llama"));
  for (Text* each : {&moved, &beside, &alone}) each->feed(kTokens);
  moved.shift();
  const std::vector<float> expected = alone.feed(5);
  EXPECT_FALSE(same_bits(moved.feed(5), expected));
  EXPECT_TRUE(same_bits(beside.feed(5), expected));
}

// Of this process, once none of those that a test before joined is still on its way out.
std::ptrdiff_t threads() {
  const auto count = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  for (std::ptrdiff_t last = -1, now = count();; last = now, now = count()) {
    if (now == last) return now;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST(SharedDevice, ComputesOnOnePoolOfThreads) {
  const auto before = threads();
  const auto device = device_of(3);
  EXPECT_EQ(threads(), before + 2);
  Text first(load_on(device, "tiny-llama")), second(load_on(device, "tiny-qwen3"));
  first.feed(kTokens);
  second.feed(kTokens);
  EXPECT_EQ(threads(), before + 2);
}

// Its step runs another one.
class Nested final : public Network {
 public:
  explicit Nested(Device& device) : device_(device) {}
  void forward(Ops&, Shape) const override { static_cast<void>(device_.run(*this, {})); }
  std::span<KvCache* const> caches() const override { return {}; }

 private:
  Device& device_;
};

TEST(SharedDeviceDeathTest, RefusesTwoStepsAtOnce) {
  const auto device = device_of(1);
  EXPECT_DEATH(static_cast<void>(device->run(Nested(*device), {})), "a step begins on a device that runs another");
}

}  // namespace
}  // namespace slipstream
