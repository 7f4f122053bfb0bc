#include "common/checkpoint/dequantise.h"

#include <bit>
#include <cstring>

#include "common/base/check.h"

namespace slipstream {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float bf16(const std::byte* at) { return std::bit_cast<float>(uint32_t{load<uint16_t>(at)} << 16); }

// Exact, as every f16 value is also an f32 value. Cases: infinity or NaN, normal (112 is the
// difference of the exponents' biases), subnormal or zero.
float f16(const std::byte* at) {
  const uint32_t bits = load<uint16_t>(at), sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 0x1FU,
                 fraction = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24F;
  return sign != 0 ? -small : small;
}

// Each of these functions converts one block to out[0..31].
void q8_0(const std::byte* at, float* out) {
  const float scale = f16(at);
  for (int i = 0; i < 32; ++i) out[i] = scale * static_cast<float>(load<int8_t>(at + 2 + i));
}

void q4_0(const std::byte* at, float* out) {
  const float scale = f16(at);
  for (int i = 0; i < 16; ++i) {
    const auto both = load<uint8_t>(at + 2 + i);
    out[i] = scale * static_cast<float>((both & 0xF) - 8);
    out[i + 16] = scale * static_cast<float>((both >> 4) - 8);
  }
}

void q4_1(const std::byte* at, float* out) {
  const float scale = f16(at), minimum = f16(at + 2);
  for (int i = 0; i < 16; ++i) {
    const auto both = load<uint8_t>(at + 4 + i);
    out[i] = scale * static_cast<float>(both & 0xF) + minimum;
    out[i + 16] = scale * static_cast<float>(both >> 4) + minimum;
  }
}

// Calls read(block, index of its first number) for each block of a row.
template <class Read>
void each_block(std::span<const std::byte> row, StoredBlock block, Read read) {
  const auto count = row.size() / block.bytes;
  for (size_t i = 0; i < count; ++i) read(row.data() + i * block.bytes, i * static_cast<size_t>(block.numbers));
}

}  // namespace

void read_row(const HostMatrix& matrix, int32_t row, std::span<float> out) {
  CHECK(out.size() == static_cast<size_t>(matrix.cols), "room for {} of {} numbers", out.size(), matrix.cols);
  const auto blocks = [&](auto read) { each_block(matrix.row(row), block_of(matrix.dtype), read); };
  float* to = out.data();
  switch (matrix.dtype) {
    case Dtype::f32:
      return blocks([to](const std::byte* at, size_t i) { to[i] = load<float>(at); });
    case Dtype::f16:
      return blocks([to](const std::byte* at, size_t i) { to[i] = f16(at); });
    case Dtype::bf16:
      return blocks([to](const std::byte* at, size_t i) { to[i] = bf16(at); });
    case Dtype::q8_0:
      return blocks([to](const std::byte* at, size_t i) { q8_0(at, to + i); });
    case Dtype::q4_0:
      return blocks([to](const std::byte* at, size_t i) { q4_0(at, to + i); });
    case Dtype::q4_1:
      return blocks([to](const std::byte* at, size_t i) { q4_1(at, to + i); });
  }
}

}  // namespace slipstream
