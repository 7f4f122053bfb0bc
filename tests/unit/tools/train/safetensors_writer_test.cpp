#include "tools/train/safetensors_writer.h"

#include <signal.h>
#include <sys/resource.h>

#include <gmock/gmock.h>

#include "common/checkpoint/safetensors.h"
#include "tests/unit/tools/train/folder.h"

namespace slipstream::train {
namespace {

const std::vector<float> kNumbers{1, 2, 3, 4, 5, 6};

StoredTensor tensor(std::string name, const std::vector<float>& numbers = kNumbers) {
  return {std::move(name), "F32", {static_cast<int64_t>(numbers.size())}, std::as_bytes(std::span(numbers))};
}

TEST(SafetensorsWriter, WritesWhatTheReaderReads) {
  const TestFolder folder;
  const StoredTensor tensors[] = {tensor("b"), {"a", "BF16", {2, 3}, std::as_bytes(std::span(kNumbers)).first(12)}};
  ASSERT_TRUE(write_safetensors(folder / "file", tensors, {{"step", "7"}}).has_value());
  const auto file = SafetensorsFile::open(folder / "file");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors().at("a").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(std::ranges::equal(file->tensors().at("b").bytes, std::as_bytes(std::span(kNumbers))));
  EXPECT_EQ(file->metadata().at("step"), "7");
}

TEST(SafetensorsWriter, KeepsTheFormerFileIfTheDiskIsFull) {
  const TestFolder folder;
  const StoredTensor small[] = {tensor("a")};
  ASSERT_TRUE(write_safetensors(folder / "file", small).has_value());
  const std::string before = folder.read("file");

  const std::vector<float> many(1000);
  const StoredTensor large[] = {tensor("a", many)};
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit few{.rlim_cur = 1000, .rlim_max = limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &few);
  const auto written = write_safetensors(folder / "file", large);
  ::setrlimit(RLIMIT_FSIZE, &limit);

  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, testing::HasSubstr("file, which takes 1 MB: File too large"));
  EXPECT_EQ(folder.read("file"), before);
  EXPECT_FALSE(std::filesystem::exists(folder / "file.new"));
}

}  // namespace
}  // namespace slipstream::train
