#include "common/model/cpu/cpu_screen.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"
#include "common/model/cpu/cpu_ops.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

constexpr int32_t kCols = 96;

std::vector<CpuPath> screening_paths() {
  std::vector<CpuPath> paths;
  for (const CpuPath path : available_cpu_paths()) {
    if (linear_kernel(kernels(path), WeightFormat::q8_0).in == Activations::int8) paths.push_back(path);
  }
  return paths;
}

// A device with an output layer in q8_0.
class Head {
 public:
  Head(CpuPath path, const std::vector<std::vector<float>>& rows)
      : path_(path), device_(make_cpu_device({.threads = 2, .path = path}).value()) {
    std::vector<std::byte> stored;
    std::vector<std::byte> blocks(static_cast<size_t>(groups_of(kCols) * block_bytes(WeightFormat::q8_0)));
    for (const std::vector<float>& row : rows) {
      quantize(WeightFormat::q8_0, row.data(), kCols, blocks.data());
      stored.insert(stored.end(), blocks.begin(), blocks.end());
    }
    const HostMatrix matrix{
        .name = "head", .dtype = Dtype::q8_0, .rows = static_cast<int32_t>(rows.size()), .cols = kCols, .bytes = stored};
    head_ = device_->pack({&matrix, 1}, Format::matrix).value();
    screen_ = device_->screen(*head_).value();
  }
  bool screens() const { return screen_ != nullptr; }
  // Where the row's weights and their copy are farthest apart, as far as activations have it.
  std::vector<float> off(int32_t row) const {
    std::vector<float> weights(kCols), copied(kCols);
    const CpuPanels& panels = static_cast<const CpuWeight*>(head_)->parts.front();
    const CpuPanels& copy = static_cast<const CpuScreen*>(screen_)->copy;
    const auto layout = [&](WeightFormat format) { return linear_kernel(kernels(path_), format).layout; };
    unpack_row(panels.format, layout(panels.format), panels.panels, kCols, row, weights.data());
    unpack_row(copy.format, layout(copy.format), copy.panels, kCols, row, copied.data());
    for (size_t i = 0; i < kCols; ++i) weights[i] -= copied[i];
    return weights;
  }

  struct Chosen {
    std::vector<int32_t> tokens;
    std::vector<float> logits;
    int64_t computed(const Chosen& whole) const {  // logits with the bits that the whole layer gives
      int64_t count = 0;
      for (size_t i = 0; i < logits.size(); ++i) count += logits[i] == whole.logits[i] ? 1 : 0;
      return count;
    }
  };
  // in: [rows, kCols]
  Chosen choose(std::vector<float> in, bool screened, float temperature = 0) const {
    const auto rows = static_cast<int32_t>(in.size()) / kCols;
    CpuOps ops(kernels(path_), 2);
    ops.reserve_columns(kCols);
    ops.reserve_rows(rows);
    ops.reserve_screen(head_->out);
    const std::vector<RowSampling> sampling(static_cast<size_t>(rows), {.params = {.temperature = temperature}});
    const Step step{.sampling = sampling, .logits_read = !screened};
    ops.begin(step);
    Chosen chosen{.tokens = std::vector<int32_t>(static_cast<size_t>(rows)),
                  .logits = std::vector<float>(static_cast<size_t>(rows * head_->out))};
    ops.sample_screened({.data = in.data(), .rows = rows, .cols = kCols, .type = Type::f32}, *head_, *screen_,
                        {.data = chosen.logits.data(), .rows = rows, .cols = head_->out, .type = Type::f32},
                        {.data = chosen.tokens.data(), .rows = rows, .cols = 1, .type = Type::i32});
    return chosen;
  }

 private:
  CpuPath path_;
  std::unique_ptr<Device> device_;
  Weight* head_ = nullptr;
  OutputScreen* screen_ = nullptr;
};

std::vector<float> normal(std::mt19937& random, size_t count, float scale = 1) {
  std::vector<float> numbers(count);
  for (float& each : numbers) each = std::normal_distribution<float>(0, scale)(random);
  return numbers;
}

// The likeliest token, the lowest of equals, from a fraction of the layer.
TEST(ScreenedOutput, ChoosesTheTokensOfTheWholeLayer) {
  std::mt19937 random(11);
  for (const CpuPath path : screening_paths()) {
    std::vector<std::vector<float>> rows(2'000);
    for (auto& row : rows) row = normal(random, kCols, 0.05F);
    rows[1'990] = rows[70];  // equals in two panels
    const Head head(path, rows);
    int64_t computed = 0, all = 0;
    for (int32_t turn = 0; turn < 40; ++turn) {
      std::vector<float> in = normal(random, static_cast<size_t>(1 + turn % kernels(path).screened_rows_best) * kCols);
      if (turn % 4 == 0) std::copy(rows[70].begin(), rows[70].end(), in.begin());
      const Head::Chosen whole = head.choose(in, false), screened = head.choose(in, true);
      ASSERT_EQ(screened.tokens, whole.tokens) << name(path) << ", turn " << turn;
      if (turn % 4 == 0) {
        EXPECT_EQ(screened.tokens.front(), 70);
      }
      for (size_t i = 0; i < whole.logits.size(); ++i) ASSERT_GE(screened.logits[i], whole.logits[i]) << "no upper bound";
      computed += screened.computed(whole);
      all += static_cast<int64_t>(whole.logits.size());
    }
    EXPECT_LT(computed, all / 2) << name(path) << ": most of the layer is read, so this tests little";
  }
}

// Weights of one magnitude have a copy that is nearly exact, so that what is left of a bound is
// what second terms may add.
TEST(ScreenedOutput, BoundsWhatSecondTermsAdd) {
  std::mt19937 random(12);
  for (const CpuPath path : screening_paths()) {
    std::vector<std::vector<float>> rows(300, std::vector<float>(kCols));
    for (auto& row : rows) {
      for (float& each : row) each = random() % 2 == 0 ? 1.0F : -1.0F;
    }
    const Head head(path, rows);
    for (int32_t turn = 0; turn < 20; ++turn) {
      const std::vector<float> in = normal(random, kCols);
      const Head::Chosen whole = head.choose(in, false), screened = head.choose(in, true);
      ASSERT_EQ(screened.tokens, whole.tokens) << name(path) << ", turn " << turn;
      for (size_t i = 0; i < whole.logits.size(); ++i) ASSERT_GE(screened.logits[i], whole.logits[i]) << name(path);
    }
  }
}

// A row and activations of which its copy is off by nearly all that the bound allows. largest: the
// size of the activation where the copy is off most, of 1 in all other columns.
struct Misjudged {
  std::vector<float> row, in;
  float logit = 0;
  double error = 0;

  Misjudged(CpuPath path, float largest, std::mt19937& random) : in(kCols) {
    while (logit <= 2 * error) {
      std::vector<std::vector<float>> rows(64, std::vector<float>(kCols, 0.0F));
      rows[40] = row = normal(random, kCols);
      const Head head(path, rows);
      const std::vector<float> off = head.off(40);
      for (size_t i = 0; i < in.size(); ++i) in[i] = off[i] < 0 ? -1.0F : 1.0F;
      const auto most = std::ranges::max_element(off, {}, [](float each) { return std::abs(each); }) - off.begin();
      in[static_cast<size_t>(most)] *= largest;
      error = 0;
      for (size_t i = 0; i < in.size(); ++i) error += static_cast<double>(off[i]) * in[i];
      logit = head.choose(in, false).logits[40];
    }
  }
};

// Beside a token whose copy is off, another that is slightly less likely, and whose copy is exact,
// would win under a smaller bound. With a large activation, an outlier, most of the error is its
// own.
TEST(ScreenedOutput, TrustsNoCopyBeyondItsError) {
  std::mt19937 random(5);
  for (const CpuPath path : screening_paths()) {
    for (const float largest : {1.0F, 60.0F}) {
      const Misjudged misjudged(path, largest, random);
      for (const double share : {0.1, 0.5, 0.9}) {
        std::vector<std::vector<float>> rows(512, std::vector<float>(kCols, 0.0F));
        rows[40] = misjudged.row;
        const auto rival = static_cast<float>((misjudged.logit - share * misjudged.error) / 3);  // of three groups
        for (size_t at = 0; at < kCols; at += kGroupColumns) rows[400][at] = rival / misjudged.in[at];
        const Head head(path, rows);
        ASSERT_EQ(head.choose(misjudged.in, false).tokens.front(), 40);
        EXPECT_EQ(head.choose(misjudged.in, true).tokens.front(), 40)
            << name(path) << ", the copy is off by " << misjudged.error << ", the rival by " << share << " of it";
      }
    }
  }
}

// With noise, and where the logits are read, the whole layer is computed.
TEST(ScreenedOutput, ComputesAllWhereMoreThanTheLikeliestTokenIsAskedFor) {
  std::mt19937 random(3);
  std::vector<std::vector<float>> rows(600);
  for (auto& row : rows) row = normal(random, kCols, 0.05F);
  const CpuPath path = screening_paths().back();
  const auto most = static_cast<size_t>(kernels(path).screened_rows_best);
  ASSERT_LE(most, static_cast<size_t>(kScreenedRowsMax));
  const Head head(path, rows);
  const std::vector<float> in = normal(random, most * kCols), many = normal(random, (most + 1) * kCols);
  EXPECT_EQ(head.choose(in, true, 1.0F).logits, head.choose(in, false).logits);
  EXPECT_EQ(head.choose(in, true, 1.0F).tokens, head.choose(in, false, 1.0F).tokens);
  EXPECT_EQ(head.choose(many, true).logits, head.choose(many, false).logits);
  EXPECT_NE(head.choose(in, true).logits, head.choose(in, false).logits);
}

TEST(ScreenedOutput, RefusesARowThatIsNotFinite) {
  std::mt19937 random(3);
  std::vector<std::vector<float>> rows(600);
  for (auto& row : rows) row = normal(random, kCols, 0.05F);
  for (const CpuPath path : screening_paths()) {
    const Head head(path, rows);
    for (const float wrong : {std::nanf(""), INFINITY, 1e38F}) {
      std::vector<float> in = normal(random, 2 * kCols);
      in[7] = wrong;
      EXPECT_EQ(head.choose(in, true).tokens, head.choose(in, false).tokens) << name(path) << ", " << wrong;
    }
    // Products by the copy overflow, as its minima are multiplied by sums, and those by the layer
    // do not.
    const std::vector<float> huge(kCols, 3e37F);
    EXPECT_GE(head.choose(huge, false).tokens.front(), 0);
    EXPECT_EQ(head.choose(huge, true).tokens, head.choose(huge, false).tokens) << name(path);
  }
}

// Weights beyond what the copy's f16 can hold: there is no screen.
TEST(ScreenedOutput, IsNotThereWhereItsCopyIsNotFinite) {
  std::vector<std::vector<float>> rows(64, std::vector<float>(kCols, 0.01F));
  EXPECT_TRUE(Head(screening_paths().back(), rows).screens());
  rows[5][3] = -1e6F;
  EXPECT_FALSE(Head(screening_paths().back(), rows).screens());
}

// The tokens after each of a prompt's, then greedy ones.
std::vector<TokenId> said(const std::filesystem::path& model, CpuPath path, bool screened) {
  auto target = load_alone(model, {.threads = 2, .path = path}, {.cache_blocks = 4, .screen_output = screened});
  EXPECT_TRUE(target) << target.error().message;
  BlockPool pool(4);
  BlockTable blocks(pool);
  EXPECT_TRUE(blocks.reserve(4 * kBlockTokens));
  std::vector<TokenId> next{1, 4093, 198, 1780, 314, 260, 3575, 282}, all;
  for (int32_t at = 0; at < 100; at += static_cast<int32_t>(std::exchange(next, {all.back()}).size())) {
    Rows rows(4);
    rows.prompt(rows.sequence_of(blocks), blocks, next, at);
    Step step = rows.view();
    step.logits_read = false;
    const auto tokens = target->run(step);
    EXPECT_TRUE(tokens) << tokens.error().message;
    all.insert(all.end(), tokens->begin(), tokens->end());
  }
  return all;
}

TEST(ScreenedOutput, SaysTheWordsOfTheRealModel) {
  if (!std::filesystem::exists(real_gguf())) GTEST_SKIP() << kNoRealGguf;
  for (const CpuPath path : screening_paths()) {
    if (path == CpuPath::portable) continue;  // it takes a second a token
    EXPECT_EQ(said(real_gguf(), path, true), said(real_gguf(), path, false)) << name(path);
  }
}

}  // namespace
}  // namespace slipstream
