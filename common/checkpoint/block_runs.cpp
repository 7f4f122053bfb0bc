#include "common/checkpoint/block_runs.h"

#include "common/base/check.h"
#include "kernels/exact/half.h"

namespace slipstream {
namespace {

constexpr int32_t kGroup = 2 * BlockRuns::kRunNumbers;  // numbers that stand together in most layouts
constexpr int32_t kGroups = 8;                          // of a block of 256
constexpr float kNoMinimum = -0.0F;                     // adding it changes no bit, not even of -0
// What four bits stand for in the IQ4 types.
constexpr int8_t kIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

struct Bytes {
  const std::byte* at;

  uint32_t operator[](int32_t i) const { return std::to_integer<uint32_t>(at[i]); }
  Bytes from(int32_t i) const { return {at + i}; }
  float half(int32_t i) const { return f16_to_f32(load_half(at + i)); }
};

constexpr int8_t as_q(uint32_t value, int32_t zero = 0) { return static_cast<int8_t>(static_cast<int32_t>(value) - zero); }

// The four bits of number i of a group of 32 that stands in 16 bytes: the lower ones are numbers
// 0..15.
uint32_t nibble(Bytes bytes, int32_t i) { return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4; }
uint32_t bit(Bytes bytes, int32_t i) { return bytes[i / 8] >> i % 8 & 1; }

void set_group(BlockRuns& runs, int32_t group, float scale, float minimum) {
  for (int32_t run = 2 * group; run < 2 * group + 2; ++run) {
    runs.scale[run] = scale;
    runs.minimum[run] = minimum;
  }
}

void read_q5(BlockRuns& runs, Bytes block, bool with_minimum) {
  set_group(runs, 0, block.half(0), with_minimum ? block.half(2) : kNoMinimum);
  const Bytes high = block.from(with_minimum ? 4 : 2), low = high.from(4);
  for (int32_t i = 0; i < kGroup; ++i) runs.q[i] = as_q(nibble(low, i) | bit(high, i) << 4, with_minimum ? 0 : 16);
}

// The scale and the minimum, of six bits each, of a group of q4_k and q5_k. Of groups 4 to 7 the
// upper two bits stand in the bytes of groups 0 to 3.
void set_six_bits(BlockRuns& runs, int32_t group, Bytes packed, float d, float dmin) {
  uint32_t scale = 0, minimum = 0;
  if (group < 4) {
    scale = packed[group] & 63;
    minimum = packed[group + 4] & 63;
  } else {
    scale = (packed[group + 4] & 15) | packed[group - 4] >> 6 << 4;
    minimum = packed[group + 4] >> 4 | packed[group] >> 6 << 4;
  }
  set_group(runs, group, d * static_cast<float>(scale), -(dmin * static_cast<float>(minimum)));
}

// Two groups share 32 bytes: the even one has the lower four bits. high: the fifth bit of number i
// of group g is bit g of byte i; none in q4_k.
void read_q4_k_or_q5_k(BlockRuns& runs, Bytes block, bool fifth) {
  const Bytes packed = block.from(4), high = block.from(16), low = block.from(fifth ? 48 : 16);
  for (int32_t group = 0; group < kGroups; ++group) {
    set_six_bits(runs, group, packed, block.half(0), block.half(2));
    for (int32_t i = 0; i < kGroup; ++i) {
      const uint32_t four = low[group / 2 * kGroup + i] >> group % 2 * 4 & 15;
      runs.q[group * kGroup + i] = as_q(fifth ? four | (high[i] >> group & 1) << 4 : four);
    }
  }
}

// Four groups share 32 bytes, two bits of each.
uint32_t two_bits(Bytes bytes, int32_t group, int32_t i) { return bytes[group / 4 * kGroup + i] >> group % 4 * 2 & 3; }

void read_q2_k(BlockRuns& runs, Bytes block) {
  const Bytes scales = block, low = block.from(16);
  const float d = block.half(80), dmin = block.half(82);
  for (int32_t run = 0; run < BlockRuns::kRunsMax; ++run) {
    runs.scale[run] = d * static_cast<float>(scales[run] & 15);
    runs.minimum[run] = -(dmin * static_cast<float>(scales[run] >> 4));
  }
  for (int32_t i = 0; i < kGroups * kGroup; ++i) runs.q[i] = as_q(two_bits(low, i / kGroup, i % kGroup));
}

// The third bit of number i of group g is bit g of byte i; where it is 0, 4 is subtracted. The
// lower four bits of a run's scale stand in the first eight of twelve bytes, the upper two in the
// last four.
void read_q3_k(BlockRuns& runs, Bytes block) {
  const Bytes high = block, low = block.from(32), packed = block.from(96);
  const float d = block.half(108);
  for (int32_t run = 0; run < BlockRuns::kRunsMax; ++run) {
    const uint32_t four = packed[run % 8] >> run / 8 * 4 & 15, two = packed[8 + run % 4] >> run / 4 * 2 & 3;
    runs.scale[run] = d * static_cast<float>(as_q(four | two << 4, 32));
    runs.minimum[run] = kNoMinimum;
  }
  for (int32_t i = 0; i < kGroups * kGroup; ++i) {
    const int32_t group = i / kGroup, within = i % kGroup;
    runs.q[i] = as_q(two_bits(low, group, within), high[within] >> group & 1 ? 0 : 4);
  }
}

// Halves of 128 numbers, each four groups: groups 0 and 2 share their bytes, and so do 1 and 3; the
// upper two bits of number i of group g are bits 2g and 2g + 1 of byte i.
void read_q6_k(BlockRuns& runs, Bytes block) {
  const Bytes low = block, high = block.from(128), scales = block.from(192);
  const float d = block.half(208);
  for (int32_t run = 0; run < BlockRuns::kRunsMax; ++run) {
    runs.scale[run] = d * static_cast<float>(static_cast<int8_t>(scales[run]));
    runs.minimum[run] = kNoMinimum;
  }
  for (int32_t i = 0; i < kGroups * kGroup; ++i) {
    const int32_t half = i / 128, group = i % 128 / kGroup, within = i % kGroup;
    const uint32_t four = low[half * 64 + group % 2 * kGroup + within] >> group / 2 * 4 & 15;
    runs.q[i] = as_q(four | two_bits(high, 4 * half + group, within) << 4, 32);
  }
}

void read_iq4_nl(BlockRuns& runs, Bytes block) {
  set_group(runs, 0, block.half(0), kNoMinimum);
  for (int32_t i = 0; i < kGroup; ++i) runs.q[i] = kIq4[nibble(block.from(2), i)];
}

void read_iq4_xs(BlockRuns& runs, Bytes block) {
  const uint32_t upper = load_half(block.at + 2);
  for (int32_t group = 0; group < kGroups; ++group) {
    const uint32_t scale = (block[4 + group / 2] >> group % 2 * 4 & 15) | (upper >> 2 * group & 3) << 4;
    set_group(runs, group, block.half(0) * static_cast<float>(as_q(scale, 32)), kNoMinimum);
    for (int32_t i = 0; i < kGroup; ++i) runs.q[group * kGroup + i] = kIq4[nibble(block.from(8 + group * 16), i)];
  }
}

}  // namespace

BlockRuns BlockRuns::read(Dtype dtype, const std::byte* from) {
  BlockRuns runs;
  const Bytes block{from};
  switch (dtype) {
    case Dtype::q5_0:
    case Dtype::q5_1:
      read_q5(runs, block, dtype == Dtype::q5_1);
      break;
    case Dtype::q2_k:
      read_q2_k(runs, block);
      break;
    case Dtype::q3_k:
      read_q3_k(runs, block);
      break;
    case Dtype::q4_k:
    case Dtype::q5_k:
      read_q4_k_or_q5_k(runs, block, dtype == Dtype::q5_k);
      break;
    case Dtype::q6_k:
      read_q6_k(runs, block);
      break;
    case Dtype::iq4_nl:
      read_iq4_nl(runs, block);
      break;
    case Dtype::iq4_xs:
      read_iq4_xs(runs, block);
      break;
    default:
      CHECK(false, "blocks of type {} are not in runs", static_cast<int>(dtype));
  }
  return runs;
}

void BlockRuns::numbers(int32_t count, float* out) const {
  for (int32_t i = 0; i < count; ++i) {
    out[i] = scale[i / kRunNumbers] * static_cast<float>(q[i]) + minimum[i / kRunNumbers];
  }
}

}  // namespace slipstream
