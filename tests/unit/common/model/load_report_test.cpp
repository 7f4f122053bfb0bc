// What a load says while it goes on, and at its end.
#include "common/model/load_report.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "common/checkpoint/safetensors.h"
#include "common/model/language_model.h"
#include "tests/unit/common/model/models.h"

namespace slipstream {
namespace {

using std::chrono::milliseconds;

constexpr LoadProgress kHalf{.part = LoadPart::pack, .bytes = 512'900'000, .all = 2'472'000'000};

TEST(LoadLines, SaysNothingOfALoadThatIsSoonDone) {
  const LoadLines::Time began{};
  LoadLines lines(began);
  EXPECT_EQ(lines.due(kHalf, began + milliseconds(999)), std::nullopt);
}

TEST(LoadLines, SaysHowFarItIsOnceASecond) {
  const LoadLines::Time began{};
  LoadLines lines(began);
  EXPECT_EQ(lines.due({.bytes = 1'000'000, .all = 2'000'000}, began + milliseconds(1500)), "read 1 of 2 MB");
  EXPECT_EQ(lines.due(kHalf, began + milliseconds(2499)), std::nullopt);
  EXPECT_EQ(lines.due(kHalf, began + milliseconds(2500)), "packed 512 of 2472 MB");
}

TEST(LoadReport, SaysWhatTookHowLong) {
  LoadReport report{.bytes = 269'000'000, .read_seconds = 0.04, .pack_seconds = 0.11};
  EXPECT_EQ(report.summary(), "read 269 MB in 0.04 s, packed them in 0.11 s");
  report.trial_seconds = 0.31;
  EXPECT_EQ(report.summary(), "read 269 MB in 0.04 s, packed them in 0.11 s, timed steps for 0.31 s");
}

// Bytes of a folder's tensors of that rank.
uint64_t bytes_of_rank(const char* folder, size_t rank) {
  const auto file = SafetensorsFile::open(test_data(folder) / "model.safetensors").value();
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : file.tensors()) bytes += tensor.shape.size() == rank ? tensor.bytes.size() : 0;
  return bytes;
}

TEST(LoadProgress, ReadsEveryByteThenPacksEveryMatrix) {
  for (const char* folder : {"tiny-llama", "tiny-llama3", "tiny-qwen2", "tiny-qwen3"}) {
    std::vector<LoadProgress> told;
    const auto tell = [&](const LoadProgress& each) { told.push_back(each); };
    const auto model = load_alone(test_data(folder), {}, {.cache_blocks = 4, .on_load = tell});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const uint64_t matrices = bytes_of_rank(folder, 2), all = matrices + bytes_of_rank(folder, 1);
    EXPECT_EQ(model->load_report().bytes, all);
    const auto packed = std::ranges::find(told, LoadPart::pack, &LoadProgress::part);
    ASSERT_TRUE(packed != told.begin() && packed != told.end());
    EXPECT_GE(std::prev(packed)->bytes, all);  // the files' headers too
    EXPECT_EQ(told.back().bytes, matrices);
    EXPECT_TRUE(std::ranges::is_sorted(told.begin(), packed, {}, &LoadProgress::bytes));
    EXPECT_TRUE(std::ranges::is_sorted(packed, told.end(), {}, &LoadProgress::bytes));
    for (const LoadProgress& each : told) EXPECT_EQ(each.all, all);
  }
}

}  // namespace
}  // namespace slipstream
