#include "kernels/cuda/linear.h"

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;

// The 32 numbers of a group before their scale, as floats.
template <WeightFormat kFormat>
__device__ void load_group(const QuantizedMatrix& weight, int64_t group, float (&numbers)[kBlockNumbers]) {
  constexpr int kPack = 16;  // bytes
  constexpr int kZero = kFormat == WeightFormat::q8_0 ? 128 : kFormat == WeightFormat::q4_0 ? 8 : 0;
  const auto* packs = reinterpret_cast<const Pack<uint8_t>*>(weight.q + group * weight.group_bytes());
  const Pack<uint8_t> low = packs[0];
  if constexpr (kFormat == WeightFormat::q8_0) {
    const Pack<uint8_t> high = packs[1];
    SLIPSTREAM_UNROLL
    for (int i = 0; i < kPack; ++i) {
      numbers[i] = static_cast<float>(low.at[i] - kZero);
      numbers[i + kPack] = static_cast<float>(high.at[i] - kZero);
    }
  } else {
    SLIPSTREAM_UNROLL
    for (int i = 0; i < kPack; ++i) {
      numbers[i] = static_cast<float>((low.at[i] & 0xF) - kZero);
      numbers[i + kPack] = static_cast<float>((low.at[i] >> 4) - kZero);
    }
  }
}

// What a group of weights gives a row of activations, which begins at `in` for this group.
template <class T>
__device__ float times_group(const T* in, const float (&numbers)[kBlockNumbers], float scale, float minimum) {
  constexpr int kPack = static_cast<int>(16 / sizeof(T));
  float products = 0, sum = 0;
  SLIPSTREAM_UNROLL
  for (int at = 0; at < kBlockNumbers; at += kPack) {
    const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(in + at);
    SLIPSTREAM_UNROLL
    for (int i = 0; i < kPack; ++i) {
      const float value = load(&pack.at[i]);
      products = fmaf(value, numbers[at + i], products);
      sum += value;
    }
  }
  return fmaf(minimum, sum, scale * products);
}

// A warp has one column of out, for up to kRows rows; a lane has each 32nd group of the weights.
// The order of a row's sum does not depend on kRows.
template <WeightFormat kFormat, class T, int kRows>
__global__ void __launch_bounds__(kThreads) linear_kernel(LinearArgs args) {
  const QuantizedMatrix& weight = args.weight;
  const auto col = static_cast<int32_t>(blockIdx.x * kWarps + warp_of_thread());
  if (col >= weight.out) return;
  const int32_t first = static_cast<int32_t>(blockIdx.y) * kRows, rows = min(kRows, args.rows - first);
  const T* in = static_cast<const T*>(args.in) + int64_t{first} * weight.in;
  float sums[kRows] = {};
  for (auto group = static_cast<int32_t>(lane_of_thread()); group < weight.groups(); group += kWarp) {
    const int64_t at = int64_t{col} * weight.groups() + group;
    float numbers[kBlockNumbers];
    load_group<kFormat>(weight, at, numbers);
    const float scale = f16_to_f32(weight.scales[at]);
    const float minimum = kFormat == WeightFormat::q4_1 ? f16_to_f32(weight.minima[at]) : 0.0F;
    SLIPSTREAM_UNROLL
    for (int32_t row = 0; row < kRows; ++row) {
      if (row < rows) sums[row] += times_group(in + int64_t{row} * weight.in + group * kBlockNumbers, numbers, scale, minimum);
    }
  }
  const float bias = args.bias != nullptr ? args.bias[col] : 0.0F;
  SLIPSTREAM_UNROLL
  for (int32_t row = 0; row < kRows; ++row) {
    if (row >= rows) continue;
    const float sum = over_warp(sums[row], [](float a, float b) { return a + b; }) + bias;
    if (lane_of_thread() != 0) continue;
    const int64_t to = int64_t{first + row} * weight.out + col;
    if (args.out_element == Element::f32) {
      store(static_cast<float*>(args.out) + to, sum);
    } else {
      store(static_cast<Bf16*>(args.out) + to, sum);
    }
  }
}

template <WeightFormat kFormat, class T>
int launch_linear(const LinearArgs& args, Stream stream) {
  const int32_t each = args.rows == 1 ? 1 : args.rows <= 4 ? 4 : kLinearRows;
  const dim3 grid(static_cast<unsigned>((args.weight.out + kWarps - 1) / kWarps),
                  static_cast<unsigned>((args.rows + each - 1) / each));
  const auto kernel = each == 1   ? linear_kernel<kFormat, T, 1>
                      : each == 4 ? linear_kernel<kFormat, T, 4>
                                  : linear_kernel<kFormat, T, kLinearRows>;
  return launch(kernel, grid, dim3(kThreads), stream, args);
}

}  // namespace

int quantized_linear(const LinearArgs& args, Stream stream) {
  constexpr int kInvalidValue = 1;  // cudaErrorInvalidValue
  if (args.weight.in % kBlockNumbers != 0 || args.weight.format == WeightFormat::bf16) return kInvalidValue;
  return with_element(args.in_element, [&](auto element) {
    using T = decltype(element);
    switch (args.weight.format) {
      case WeightFormat::q8_0:
        return launch_linear<WeightFormat::q8_0, T>(args, stream);
      case WeightFormat::q4_0:
        return launch_linear<WeightFormat::q4_0, T>(args, stream);
      default:
        return launch_linear<WeightFormat::q4_1, T>(args, stream);
    }
  });
}

}  // namespace slipstream::cuda
