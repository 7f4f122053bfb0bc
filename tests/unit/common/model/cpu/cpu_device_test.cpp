// Which format a matrix is kept in, and what the numerics id says of it.
#include "common/model/cpu/cpu_device.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/dequantise.h"
#include "common/model/cpu/cpu_types.h"

namespace slipstream {
namespace {

using testing::StartsWith;

constexpr int32_t kRows = 3, kCols = 64;

// Bytes of zeros: a matrix of zeros in any format.
class Stored {
 public:
  explicit Stored(Dtype dtype) : dtype_(dtype), bytes_(static_cast<size_t>(kRows) * matrix().row_bytes()) {}
  // Bits of one number, or of a block's scale, in the second row.
  Stored& with(uint32_t bits, size_t bytes, size_t at) {
    std::memcpy(bytes_.data() + matrix().row_bytes() + at, &bits, bytes);
    return *this;
  }
  HostMatrix matrix() const { return {.name = "m", .dtype = dtype_, .rows = kRows, .cols = kCols, .bytes = bytes_}; }

 private:
  Dtype dtype_;
  std::vector<std::byte> bytes_;
};

// The id of a network of these stacks.
std::string id_of(std::optional<WeightFormat> weights, const std::vector<std::vector<Dtype>>& stacks,
                  CpuPath path = CpuPath::portable) {
  const auto device = make_cpu_device({.path = path, .weights = weights}).value();
  std::vector<const Weight*> network;
  for (const auto& dtypes : stacks) {
    std::vector<Stored> stored(dtypes.begin(), dtypes.end());
    std::vector<HostMatrix> stack;
    for (const Stored& each : stored) stack.push_back(each.matrix());
    const auto packed = device->pack(stack, Format::matrix);
    EXPECT_TRUE(packed.has_value()) << packed.error().message;
    network.push_back(*packed);
  }
  return device->numerics_id(network);
}

TEST(CpuDevice, KeepsSmallFormatsAsTheFileHasThem) {
  EXPECT_THAT(id_of({}, {{Dtype::q4_1}}), StartsWith("cpu/portable/q4_1/"));
  EXPECT_THAT(id_of({}, {{Dtype::q8_0}, {Dtype::q4_1, Dtype::q4_1}}), StartsWith("cpu/portable/q8_0+q4_1/"));
  for (const Dtype wide : {Dtype::f32, Dtype::f16, Dtype::bf16})
    EXPECT_THAT(id_of({}, {{wide}}), StartsWith("cpu/portable/bf16/"));
}

TEST(CpuDevice, PacksWhatOnlyGuessesInFourBitsWhateverTheModelHas) {
  const Stored stored(Dtype::bf16);
  const HostMatrix matrix = stored.matrix();
  for (const auto weights : {std::optional<WeightFormat>(), {WeightFormat::bf16}, {WeightFormat::q8_0}}) {
    const auto device = make_cpu_device({.path = CpuPath::portable, .weights = weights}).value();
    const Weight* packed = device->pack({&matrix, 1}, Format::guess).value();
    EXPECT_THAT(device->numerics_id({&packed, 1}), StartsWith("cpu/portable/q4_1/"));
  }
}

TEST(CpuDevice, KeepsThePartsOfAStackInTheirOwnFormats) {
  EXPECT_THAT(id_of({}, {{Dtype::q4_0, Dtype::q4_0, Dtype::q8_0}}), StartsWith("cpu/portable/q8_0+q4_0/"));
}

TEST(CpuDevice, KeepsAllInTheFormatThatIsAskedFor) {
  for (const WeightFormat format : kAllWeightFormats) {
    const std::string begin = std::string("cpu/portable/") + name(format) + "/";
    EXPECT_THAT(id_of(format, {{Dtype::q8_0}, {Dtype::q4_1, Dtype::bf16}}), StartsWith(begin));
  }
}

// Equal ids promise equal bits. What the file decides is the same promise as asking for what it
// has.
TEST(CpuDevice, NamesEachFormatAndPathApart) {
  std::set<std::string> ids;
  for (const CpuPath path : available_cpu_paths()) {
    for (const WeightFormat format : kAllWeightFormats) ids.insert(id_of(format, {{Dtype::q4_1}}, path));
    ids.insert(id_of({}, {{Dtype::q8_0}, {Dtype::q4_1}}, path));
  }
  EXPECT_EQ(ids.size(), available_cpu_paths().size() * (kWeightFormats + 1));
  EXPECT_EQ(id_of({}, {{Dtype::q4_1}}), id_of(WeightFormat::q4_1, {{Dtype::q4_1}}));
}

// A stack of three, whose rows meet in the midst of panels, of small numbers sampled anew each time
// from the same seed.
class SampledStack {
 public:
  explicit SampledStack(Dtype dtype) {
    std::mt19937 random(7);
    for (const int32_t rows : {530, 17, 491}) {
      HostMatrix& matrix = matrices_.emplace_back(HostMatrix{.name = "m", .dtype = dtype, .rows = rows, .cols = kWide});
      std::vector<std::byte>& bytes = stored_.emplace_back(static_cast<size_t>(rows) * matrix.row_bytes());
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      const StoredBlock block = block_of(dtype);  // the upper byte of each float and scale: of a finite number
      for (size_t at = block.numbers == 1 ? block.bytes - 1 : 1; at < bytes.size(); at += block.bytes)
        bytes[at] = std::byte{0x3C};
      if (dtype == Dtype::q4_1) {
        for (size_t at = 3; at < bytes.size(); at += block.bytes) bytes[at] = std::byte{0x3C};
      }
      matrix.bytes = bytes;
    }
  }
  static constexpr int32_t kWide = 2048, kAllRows = 530 + 17 + 491;
  std::span<const HostMatrix> matrices() const { return matrices_; }

 private:
  std::deque<std::vector<std::byte>> stored_;
  std::vector<HostMatrix> matrices_;
};

std::vector<std::byte> packed_by(int threads, WeightFormat format, const SampledStack& stack) {
  const auto device = make_cpu_device({.threads = threads, .weights = format}).value();
  const auto& weight = static_cast<const CpuWeight&>(*device->pack(stack.matrices(), Format::matrix).value());
  const int64_t bytes = panels_of(SampledStack::kAllRows) * panel_bytes(format, SampledStack::kWide);
  const std::byte* panels = weight.parts.front().panels;
  return {panels, panels + bytes};
}

// Row by row on one thread, which tests/unit/kernels/cpu/panels_test.cpp shows to lose nothing, is
// what every number of threads has to give.
TEST(CpuDevice, PacksTheSameBytesOnAnyNumberOfThreads) {
  for (const WeightFormat format : kAllWeightFormats) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_0, Dtype::q4_1}) {
      const SampledStack stack(dtype);
      const std::vector<std::byte> alone = packed_by(1, format, stack);
      for (const int threads : {2, 3}) {
        EXPECT_TRUE(packed_by(threads, format, stack) == alone) << name(format) << ", " << threads << " threads";
      }
    }
  }
}

// The numbers of each row, wherever in the stack, are its own.
TEST(CpuDevice, PacksEachRowOfAStackInItsPlace) {
  const SampledStack stack(Dtype::bf16);
  const std::vector<std::byte> panels = packed_by(2, WeightFormat::bf16, stack);
  std::vector<float> expected(SampledStack::kWide), found(SampledStack::kWide);
  int32_t at = 0;
  for (const HostMatrix& matrix : stack.matrices()) {
    for (int32_t row = 0; row < matrix.rows; ++row, ++at) {
      read_row(matrix, row, expected);
      unpack_row(WeightFormat::bf16, PanelLayout::words, panels.data(), SampledStack::kWide, at, found.data());
      ASSERT_EQ(found, expected) << "row " << at;
    }
  }
}

TEST(CpuDevice, RefusesNumbersThatAreNotFinite) {
  constexpr uint32_t kNan32 = 0x7FC00000, kInfinity32 = 0xFF800000, kNan16 = 0x7E00, kInfinity16 = 0xFC00, kNanBf16 = 0x7FC0;
  const std::vector<Stored> damaged{
      Stored(Dtype::f32).with(kNan32, 4, 0),        Stored(Dtype::f32).with(kInfinity32, 4, 4 * (kCols - 1)),
      Stored(Dtype::bf16).with(kNanBf16, 2, 2),     Stored(Dtype::bf16).with(0xFF80, 2, 2 * (kCols - 1)),
      Stored(Dtype::f16).with(kNan16, 2, 0),        Stored(Dtype::q8_0).with(kNan16, 2, 34),
      Stored(Dtype::q8_0).with(kInfinity16, 2, 0),  Stored(Dtype::q4_0).with(kInfinity16, 2, 18),
      Stored(Dtype::q4_1).with(kInfinity16, 2, 20), Stored(Dtype::q4_1).with(kNan16, 2, 2)};
  for (const Stored& each : damaged) {
    for (const std::optional<WeightFormat> weights :
         {std::optional<WeightFormat>(), {WeightFormat::bf16}, {WeightFormat::q8_0}}) {
      const HostMatrix matrix = each.matrix();
      const auto device = make_cpu_device({.path = CpuPath::portable, .weights = weights}).value();
      const auto packed = device->pack({&matrix, 1}, Format::matrix);
      ASSERT_FALSE(packed.has_value()) << static_cast<int>(matrix.dtype);
      EXPECT_THAT(packed.error().message, StartsWith("tensor m holds numbers that are not finite"));
      EXPECT_FALSE(device->pack({&matrix, 1}, Format::f32).has_value()) << static_cast<int>(matrix.dtype);
    }
  }
  const Stored large = Stored(Dtype::f32).with(std::bit_cast<uint32_t>(1e38F), 4, 0);
  const HostMatrix matrix = large.matrix();
  for (const WeightFormat weights : kAllWeightFormats) {
    const auto device = make_cpu_device({.path = CpuPath::portable, .weights = weights}).value();
    EXPECT_EQ(device->pack({&matrix, 1}, Format::matrix).has_value(), weights == WeightFormat::bf16) << name(weights);
  }
}

TEST(CpuDevice, RefusesACacheThatTheMachineHasNoMemoryFor) {
  const auto device = make_cpu_device({.path = CpuPath::portable}).value();
  const auto cache = device->cache(100, {.heads = 32, .kv_heads = 32, .head_size = 128}, 1 << 20, 8192);
  ASSERT_FALSE(cache.has_value());
  EXPECT_THAT(cache.error().message, testing::HasSubstr("use a smaller model or a smaller cache"));
}

TEST(CpuDevice, TurnsAsFarOnAnyNumberOfThreads) {
  constexpr int32_t kPositions = 1000, kHalf = 4;
  constexpr float kFrequencies[kHalf] = {1.0F, 0.1F, 0.01F, 0.001F};
  for (const int threads : {1, 2, 3}) {
    const auto device = make_cpu_device({.threads = threads}).value();
    const auto& table = static_cast<const CpuRope&>(*device->rope(kFrequencies, 0.5F, kPositions).value());
    for (int32_t position = 0; position < kPositions; ++position) {
      for (int32_t i = 0; i < kHalf; ++i) {
        const double angle = position * std::pow(0.1, i);
        const auto at = static_cast<size_t>(position * kHalf + i);
        ASSERT_NEAR(table.cosine[at], 0.5 * std::cos(angle), 1e-4) << position << ", " << threads << " threads";
        ASSERT_NEAR(table.sine[at], 0.5 * std::sin(angle), 1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace slipstream
