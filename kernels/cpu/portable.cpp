// Plain C++: what every path is held to, and what runs where nothing better does.
#include "kernels/cpu/attend.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tiles.h"

namespace slipstream {
namespace {

void linear_row(const LinearArgs& args, int32_t panel, int32_t row) {
  const uint16_t* weight = args.panels + panel * panel_elements(args.in_cols);
  const float* in = static_cast<const float*>(args.in) + row * args.in_stride;
  float acc[kPanelRows] = {};
  for (int32_t k = 0; k < args.in_cols; k += 2, weight += 2 * kPanelRows) {
    const float even = in[k], odd = in[k + 1];
    for (int32_t r = 0; r < kPanelRows; ++r) {
      uint32_t pair;
      std::memcpy(&pair, weight + 2 * r, sizeof(pair));
      const uint32_t bits[2] = {pair << 16, pair & 0xFFFF0000u};
      float value[2];
      std::memcpy(value, bits, sizeof(value));
      acc[r] += value[0] * even;
      acc[r] += value[1] * odd;
    }
  }
  const int32_t first = panel * kPanelRows, left = args.out_cols - first;
  float* out = args.out + row * args.out_stride + first;
  std::memcpy(out, acc, static_cast<size_t>(left < kPanelRows ? left : kPanelRows) * sizeof(float));
}

constexpr TileFn kTiles[] = {linear_row};

void linear(const LinearArgs& args, int32_t begin, int32_t end) { linear_by_tiles(kTiles, args, begin, end); }

}  // namespace

const Kernels kPortableKernels = {.path = CpuPath::portable,
                                  .linear = linear,
                                  .to_bf16 = nullptr,
                                  .attend = attend,
                                  .add_rms_norm = add_rms_norm,
                                  .rope = rope,
                                  .silu_gate = silu_gate};

}  // namespace slipstream
