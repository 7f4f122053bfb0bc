#include "kernels/cuda/linear.h"

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/numbers.cuh"
#include "kernels/cuda/quantized_lane.cuh"

namespace slipstream::cuda {
namespace {

constexpr int32_t kThreads = 256;
constexpr int32_t kWarps = kThreads / kWarp;  // of a block: each takes every kWarps-th run of kAhead groups
constexpr int32_t kAhead = 4;                 // groups that a warp loads before it multiplies the first
constexpr int32_t kTileRows = 16;             // rows that a product of tensor cores has
constexpr int32_t kPanels = 2;                // of the weights, that a block has
constexpr int32_t kCols = kPanels * kPanelRows;

struct alignas(8) Words {  // four numbers in bf16
  uint32_t low, high;
};

template <int32_t kTiles>
struct LinearShared {
  float sums[kWarps][kTiles * kTileRows][kCols + 4];  // the padding spreads rows over banks
};

// Of a panel's group, what a lane loads.
template <WeightFormat kFormat>
struct Loaded {
  PackedLane<kFormat> lane;
  uint32_t scales = 0, second = 0;  // of the two columns of the product that are the lane's
};

template <WeightFormat kFormat>
__device__ Loaded<kFormat> load_group(const QuantizedMatrix& weight, int32_t panel, int32_t group) {
  if (panel >= weight.panels() || group >= weight.groups()) return {};
  const auto lane = static_cast<int32_t>(lane_of_thread());
  const int64_t at = int64_t{panel} * weight.groups() + group, pair = at * (kPanelRows / 2) + lane % 4;
  Loaded<kFormat> loaded{.lane = load_lane<kFormat>(weight, at, lane)};
  loaded.scales = reinterpret_cast<const uint32_t*>(weight.scales)[pair];
  if constexpr (has_second(kFormat)) {
    loaded.second = reinterpret_cast<const uint32_t*>(weight.second)[pair];
  }
  return loaded;
}

// The rows g and g + 8 of 16 rows, in the columns that a lane of a group multiplies: fragments of
// the pairs 0 and 1, and of 2 and 3. Rows that are not there are zeros.
__device__ inline void load_rows(const LinearArgs& args, int32_t first, int32_t group, uint32_t (&a)[2][4]) {
  const auto lane = static_cast<int32_t>(lane_of_thread());
  SLIPSTREAM_UNROLL
  for (int32_t half = 0; half < 2; ++half) {
    const int32_t row = first + lane / 4 + 8 * half;
    const auto* from = static_cast<const Bf16*>(args.in) + int64_t{row} * args.weight.in + group * kBlockNumbers + lane % 4 * 4;
    SLIPSTREAM_UNROLL
    for (int32_t step = 0; step < 2; ++step) {
      const Words words = row < args.rows ? *reinterpret_cast<const Words*>(from + step * (kBlockNumbers / 2)) : Words{0, 0};
      a[step][half] = words.low, a[step][half + 2] = words.high;
    }
  }
}

// sums += part, each column by its own factor.
__device__ inline void add_scaled(const float (&part)[4], uint32_t factors, float (&sums)[4]) {
  const float of_column[2] = {f16_to_f32(static_cast<uint16_t>(factors)), f16_to_f32(static_cast<uint16_t>(factors >> 16))};
  SLIPSTREAM_UNROLL
  for (int32_t i = 0; i < 4; ++i) sums[i] = fmaf(part[i], of_column[i % 2], sums[i]);
}

// Of each of 16 rows the sum of the group's columns, in each column of the product.
__device__ inline void sum_columns(const uint32_t (&a)[2][4], float (&total)[4]) {
  constexpr uint32_t kOnes = 0x3F803F80;
  mma_bf16(total, a[0], kOnes, kOnes);
  mma_bf16(total, a[1], kOnes, kOnes);
}

// What a panel's group of weights gives 16 rows. total: as sum_columns(), of formats with minima.
template <WeightFormat kFormat>
__device__ void add_group(const uint32_t (&a)[2][4], const uint32_t (&pairs)[kLanePairs], const Loaded<kFormat>& loaded,
                          const float (&total)[4], float (&sums)[4]) {
  float part[4] = {};
  mma_bf16(part, a[0], pairs[0], pairs[1]);
  if constexpr (run_numbers(kFormat) < kBlockNumbers) {
    add_scaled(part, loaded.scales, sums);
    for (float& each : part) each = 0;
    mma_bf16(part, a[1], pairs[2], pairs[3]);
    add_scaled(part, loaded.second, sums);
  } else {
    mma_bf16(part, a[1], pairs[2], pairs[3]);
    add_scaled(part, loaded.scales, sums);
  }
  if constexpr (has_minimum(kFormat)) add_scaled(total, loaded.second, sums);
}

template <WeightFormat kFormat, int32_t kTiles>
__device__ void sum_groups(const LinearArgs& args, int32_t panel, int32_t first_row, float (&sums)[kTiles][kPanels][4]) {
  for (int32_t first = static_cast<int32_t>(warp_of_thread()) * kAhead; first < args.weight.groups();
       first += kWarps * kAhead) {
    Loaded<kFormat> loaded[kAhead][kPanels];
    SLIPSTREAM_UNROLL
    for (int32_t i = 0; i < kAhead; ++i) {
      SLIPSTREAM_UNROLL
      for (int32_t p = 0; p < kPanels; ++p) loaded[i][p] = load_group<kFormat>(args.weight, panel + p, first + i);
    }
    SLIPSTREAM_UNROLL
    for (int32_t i = 0; i < kAhead; ++i) {
      if (first + i >= args.weight.groups()) break;
      uint32_t pairs[kPanels][kLanePairs];
      SLIPSTREAM_UNROLL
      for (int32_t p = 0; p < kPanels; ++p) unpack_lane<kFormat>(loaded[i][p].lane, pairs[p]);
      SLIPSTREAM_UNROLL
      for (int32_t tile = 0; tile < kTiles; ++tile) {
        uint32_t a[2][4];
        load_rows(args, first_row + tile * kTileRows, first + i, a);
        float total[4] = {};
        if constexpr (has_minimum(kFormat)) sum_columns(a, total);
        SLIPSTREAM_UNROLL
        for (int32_t p = 0; p < kPanels; ++p) add_group<kFormat>(a, pairs[p], loaded[i][p], total, sums[tile][p]);
      }
    }
  }
}

__device__ inline void store_result(const LinearArgs& args, int32_t row, int32_t col, float sum) {
  if (row >= args.rows || col >= args.weight.out) return;
  if (args.bias != nullptr) sum += args.bias[col];
  const int64_t to = int64_t{row} * args.out_stride + col;
  if (args.out_element == Element::f32) {
    store(static_cast<float*>(args.out) + to, sum);
  } else {
    store(static_cast<Bf16*>(args.out) + to, sum);
  }
}

// A block has kPanels panels of the weights, and kTiles times 16 rows. The order of a row's sum
// does not depend on kTiles.
template <WeightFormat kFormat, int32_t kTiles>
__global__ void __launch_bounds__(kThreads, kTiles == 1 ? 3 : 2) linear_kernel(LinearArgs args) {
  auto& shared = shared_memory<LinearShared<kTiles>>();
  const auto panel = static_cast<int32_t>(blockIdx.x) * kPanels;
  const auto first_row = static_cast<int32_t>(blockIdx.y) * kTiles * kTileRows;
  float sums[kTiles][kPanels][4] = {};
  sum_groups<kFormat, kTiles>(args, panel, first_row, sums);
  const auto lane = static_cast<int32_t>(lane_of_thread());
  SLIPSTREAM_UNROLL
  for (int32_t tile = 0; tile < kTiles; ++tile) {
    SLIPSTREAM_UNROLL
    for (int32_t p = 0; p < kPanels; ++p) {
      SLIPSTREAM_UNROLL
      for (int32_t i = 0; i < 4; ++i) {
        const int32_t row = tile * kTileRows + lane / 4 + 8 * (i / 2), col = p * kPanelRows + 2 * (lane % 4) + i % 2;
        shared.sums[warp_of_thread()][row][col] = sums[tile][p][i];
      }
    }
  }
  __syncthreads();
  for (auto i = static_cast<int32_t>(threadIdx.x); i < kTiles * kTileRows * kCols; i += kThreads) {
    const int32_t row = i / kCols, col = i % kCols;
    float sum = 0;
    for (int32_t warp = 0; warp < kWarps; ++warp) sum += shared.sums[warp][row][col];
    store_result(args, first_row + row, panel * kPanelRows + col, sum);
  }
}

__device__ inline void store_pair(Bf16* to, float first, float second) {
  store(to, first);
  store(to + 1, second);
}

// A block unpacks a row; a thread unpacks of a group what one lane of a product would have.
template <WeightFormat kFormat>
__global__ void __launch_bounds__(kThreads) unpack_kernel(UnpackArgs args) {
  const QuantizedMatrix& weight = args.weight;
  const auto row = static_cast<int32_t>(args.row[blockIdx.x]), inside = row % kPanelRows;
  auto* out = static_cast<Bf16*>(args.out) + int64_t{blockIdx.x} * weight.in;
  for (auto i = static_cast<int32_t>(threadIdx.x); i < weight.groups() * 4; i += kThreads) {
    const int32_t group = i / 4, t = i % 4;
    const int64_t at = int64_t{row / kPanelRows} * weight.groups() + group;
    uint32_t pairs[kLanePairs];
    unpack_lane<kFormat>(load_lane<kFormat>(weight, at, inside * 4 + t), pairs);
    const float scale = f16_to_f32(weight.scales[at * kPanelRows + inside]);
    float second = 0;
    if constexpr (has_second(kFormat)) second = f16_to_f32(weight.second[at * kPanelRows + inside]);
    SLIPSTREAM_UNROLL
    for (int32_t pair = 0; pair < kLanePairs; ++pair) {
      Bf16* to = out + group * kBlockNumbers + first_of_pair(t, pair);
      const float own_scale = run_numbers(kFormat) < kBlockNumbers && pair >= kLanePairs / 2 ? second : scale;
      const float low = bf16_to_f32(static_cast<uint16_t>(pairs[pair]));
      const float high = bf16_to_f32(static_cast<uint16_t>(pairs[pair] >> 16));
      if constexpr (has_minimum(kFormat)) {
        store_pair(to, fmaf(own_scale, low, second), fmaf(own_scale, high, second));
      } else {
        store_pair(to, own_scale * low, own_scale * high);
      }
    }
  }
}

// Calls run.operator()<the matrix's format>().
template <class Run>
int with_format(const QuantizedMatrix& weight, const Run& run) {
  constexpr int kInvalidValue = 1;  // cudaErrorInvalidValue
  if (weight.in % kBlockNumbers != 0) return kInvalidValue;
  switch (weight.format) {
    case WeightFormat::q8_0:
      return run.template operator()<WeightFormat::q8_0>();
    case WeightFormat::q4_0:
      return run.template operator()<WeightFormat::q4_0>();
    case WeightFormat::q4_1:
      return run.template operator()<WeightFormat::q4_1>();
    case WeightFormat::q5_1:
      return run.template operator()<WeightFormat::q5_1>();
    case WeightFormat::q6_k:
      return run.template operator()<WeightFormat::q6_k>();
    case WeightFormat::bf16:
      break;
  }
  return kInvalidValue;
}

}  // namespace

int quantized_linear(const LinearArgs& args, Stream stream) {
  const auto blocks = [](int32_t count, int32_t each) { return static_cast<unsigned>((count + each - 1) / each); };
  return with_format(args.weight, [&]<WeightFormat kFormat>() {
    constexpr int32_t kManyTiles = kLinearRows / kTileRows;
    const bool few = args.rows <= kTileRows;
    const dim3 grid(blocks(args.weight.panels(), kPanels), blocks(args.rows, few ? kTileRows : kLinearRows));
    return launch(few ? linear_kernel<kFormat, 1> : linear_kernel<kFormat, kManyTiles>, grid, dim3(kThreads), stream, args);
  });
}

int unpack_rows(const UnpackArgs& args, Stream stream) {
  return with_format(args.weight, [&]<WeightFormat kFormat>() {
    return launch(unpack_kernel<kFormat>, dim3(static_cast<unsigned>(args.count)), dim3(kThreads), stream, args);
  });
}

}  // namespace slipstream::cuda
