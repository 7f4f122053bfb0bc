// Which format a matrix is kept in, and what the numerics id says of it.
#include "common/model/cpu/cpu_device.h"

#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::StartsWith;

constexpr int32_t kRows = 3, kCols = 64;

// Bytes of zeros: a matrix of zeros in any format.
class Stored {
 public:
  explicit Stored(Dtype dtype) : dtype_(dtype), bytes_(static_cast<size_t>(kRows) * matrix().row_bytes()) {}
  HostMatrix matrix() const { return {.name = "m", .dtype = dtype_, .rows = kRows, .cols = kCols, .bytes = bytes_}; }

 private:
  Dtype dtype_;
  std::vector<std::byte> bytes_;
};

// The id of a device that has packed these stacks.
std::string id_of(std::optional<WeightFormat> weights, const std::vector<std::vector<Dtype>>& stacks,
                  CpuPath path = CpuPath::portable) {
  const auto device = make_cpu_device({.path = path, .weights = weights}).value();
  for (const auto& dtypes : stacks) {
    std::vector<Stored> stored(dtypes.begin(), dtypes.end());
    std::vector<HostMatrix> stack;
    for (const Stored& each : stored) stack.push_back(each.matrix());
    const auto packed = device->pack(stack, Format::matrix);
    EXPECT_TRUE(packed.has_value()) << packed.error().message;
  }
  return device->numerics_id();
}

TEST(CpuDevice, KeepsSmallFormatsAsTheFileHasThem) {
  EXPECT_THAT(id_of({}, {{Dtype::q4_1}}), StartsWith("cpu/portable/q4_1/"));
  EXPECT_THAT(id_of({}, {{Dtype::q8_0}, {Dtype::q4_1, Dtype::q4_1}}), StartsWith("cpu/portable/q8_0+q4_1/"));
  for (const Dtype wide : {Dtype::f32, Dtype::f16, Dtype::bf16})
    EXPECT_THAT(id_of({}, {{wide}}), StartsWith("cpu/portable/bf16/"));
}

TEST(CpuDevice, MakesBf16OfAStackWhosePartsDiffer) {
  EXPECT_THAT(id_of({}, {{Dtype::q4_0, Dtype::q4_0, Dtype::q8_0}}), StartsWith("cpu/portable/bf16/"));
}

TEST(CpuDevice, KeepsAllInTheFormatThatIsAskedFor) {
  for (const WeightFormat format : kAllWeightFormats) {
    const std::string begin = std::string("cpu/portable/") + name(format) + "/";
    EXPECT_THAT(id_of(format, {{Dtype::q8_0}, {Dtype::q4_1, Dtype::bf16}}), StartsWith(begin));
  }
}

// Equal ids promise equal bits. What the file decides is the same promise as asking for what it has.
TEST(CpuDevice, NamesEachFormatAndPathApart) {
  std::set<std::string> ids;
  for (const CpuPath path : available_cpu_paths()) {
    for (const WeightFormat format : kAllWeightFormats) ids.insert(id_of(format, {{Dtype::q4_1}}, path));
    ids.insert(id_of({}, {{Dtype::q8_0}, {Dtype::q4_1}}, path));
  }
  EXPECT_EQ(ids.size(), available_cpu_paths().size() * (kWeightFormats + 1));
  EXPECT_EQ(id_of({}, {{Dtype::q4_1}}), id_of(WeightFormat::q4_1, {{Dtype::q4_1}}));
}

}  // namespace
}  // namespace slipstream
