// The cpu kernels of one instruction path, as a table of functions over raw pointers and strides.
// No kernel allocates memory or knows about threads.
//
// Row invariance: the bits of a row's result depend only on that row's numbers and on positions,
// never on the other rows of the call. Every kernel keeps this:
//   1. Sums over columns run in one order, whatever the number of rows.
//   2. Sums over the context run in the order of the keys on the row's own path, wherever the cache
//      stores them.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/cpu/cache.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/path.h"

namespace slipstream {

inline constexpr int32_t kLanes = 16;  // floats of one vector, on every path

// The form of activations that a linear kernel reads. bf16_pairs: see kPairRows below.
enum class Activations : uint8_t { f32, bf16, bf16_pairs, int8 };

// 32 neighbouring columns of a row of int8 activations: x = scale * values[i], rounded to the
// nearest. Weights are stored as unsigned q (panels.h): kernels that multiply q as it is start
// their sum from `bias`, others subtract the offset from q.
struct ActivationGroup {
  int8_t values[kGroupColumns];
  float scale;  // largest magnitude / 127; not finite if a column is not
  float total;  // scale * sum of values: the factor of a minimum
  // -8 and -128 times the sum of values, and -32 times that of the first 16: the offsets of q4_0,
  // of q8_0, and of the first run of q6_k.
  int32_t bias[3];
};

// A column whose magnitude is more than kOutlierFrom times the root mean square of its row. It
// stays in f32, and its group holds 0 in its place: beside it the group's other columns would be
// rounded too coarsely (LLM.int8(), arXiv 2208.07339; there it is the same columns of all rows).
struct Outlier {
  int32_t column;  // kNoColumn behind the last
  float value;
};
inline constexpr float kOutlierFrom = 3.0F;
inline constexpr int32_t kNoColumn = -1;
// The squares of n outliers add up to more than n * kOutlierFrom^2 * ms, those of the whole row to
// cols * ms (ms: the mean square). So n < cols / 9. An eighth leaves room for rounding; one more is
// the end.
constexpr int32_t outliers_max(int32_t cols) { return cols / 8 + 1; }
static_assert(kOutlierFrom * kOutlierFrom >= 9.0F);

// A row of int8 activations is groups_of(cols) groups, then its outliers, in rising order of their
// columns, in the memory of this many groups.
constexpr int32_t activation_groups(int32_t cols) {
  return groups_of(cols) + (outliers_max(cols) * int32_t{sizeof(Outlier)} + int32_t{sizeof(ActivationGroup)} - 1) /
                               int32_t{sizeof(ActivationGroup)};
}

// The outliers of a few rows by columns: a kernel then unpacks the weights of a column once for
// kSharingRows neighbouring rows, rows [i * kSharingRows, ...) those from
// i * shared_outliers_max(cols) on. A row of which the column is no outlier has the value 0.
inline constexpr int32_t kSharingRows = 4;
inline constexpr int32_t kFewRows = 8;  // up to so many rows; above that the columns alone are told (LinearArgs)
struct SharedOutlier {
  int32_t column;  // kNoColumn behind the last
  float values[kSharingRows];
};
// How many columns the outliers of `rows` rows have at most, and one more for the end.
constexpr int32_t outlier_columns_max(int32_t rows, int32_t cols) {
  const int64_t most = int64_t{rows} * (outliers_max(cols) - 1);
  return (most < cols ? static_cast<int32_t>(most) : cols) + 1;
}
constexpr int32_t shared_outliers_max(int32_t cols) { return outlier_columns_max(kSharingRows, cols); }

// bf16_pairs: the rows in tiles of kPairRows, of fewer where there are fewer in all. A tile is
// [groups][16 pairs of columns][rows of the tile][2], rounded to bf16 and padded with zero columns,
// so a row alone lies as it does in bf16. Behind the last row of a later tile nothing is defined.
inline constexpr int32_t kPairRows = 16;
constexpr int32_t pair_rows(int32_t rows) { return rows < kPairRows ? rows : kPairRows; }

constexpr int64_t activation_bytes(Activations kind, int32_t rows, int32_t cols) {
  switch (kind) {
    case Activations::f32:
      return int64_t{rows} * cols * 4;
    case Activations::bf16:
      return int64_t{rows} * cols * 2;
    case Activations::bf16_pairs:
      return int64_t{(rows + kPairRows - 1) / kPairRows} * pair_rows(rows) * groups_of(cols) * kGroupColumns * 2;
    case Activations::int8:
      break;
  }
  return int64_t{rows} * activation_groups(cols) * int64_t{sizeof(ActivationGroup)};
}
// How many rows are rounded by one call.
constexpr int32_t rounded_together(Activations kind) { return kind == Activations::bf16_pairs ? kPairRows : 1; }
inline const Outlier* outliers(const ActivationGroup* row, int32_t cols) {
  return reinterpret_cast<const Outlier*>(row + groups_of(cols));
}

// out [rows, out_cols] = in [rows, in_cols] * weight^T, for the panels [begin, end) of the weight
// (panels.h), each of which gives kPanelRows columns of out.
struct LinearArgs {
  const void* in = nullptr;  // [rows] of Activations
  const std::byte* panels = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;  // floats
  int32_t rows = 0, in_cols = 0, out_cols = 0;
  // Of int8 activations, so that the weights of a column are unpacked once for several rows: the
  // outliers of all rows by columns if there are at most kFewRows, else the columns alone, in
  // rising order, kNoColumn behind the last. Both null: each row's are added for themselves.
  const SharedOutlier* shared = nullptr;
  const int32_t* outlier_columns = nullptr;
};

// The linear kernel of one weight format.
struct LinearKernel {
  Activations in = Activations::f32;
  PanelLayout layout = PanelLayout::words;
  void (*run)(const LinearArgs& args, int32_t begin, int32_t end) = nullptr;
};

// Attention of a group: neighbouring rows of one sequence (nodes of its tree, or of a prompt
// chunk), and the heads that share one key-value head. out = softmax(scores) v, where a score is
// q k * scale, then capped. The group shares each cache block that is loaded.
//
// Block b of the cache (cache.h) begins at cache + b * block_stride. A row sees positions
// [0, visible), then position visible + j for each set bit j of its ancestors, in this order: its
// p-th key stands at position p of its own path, wherever the tree stored it. With a window it
// sees the last `window` keys of its path only, itself included. Blocks in which no row of the
// group sees a key are not read; keys that a row does not see, in those that are, have the weight
// 0 for it, so what lies there must be finite.
//
// The four parts run one after the other. A query is one head of one row.
//
//   part             computes                                                        may be split over threads by
//   attend_queries   queries, gathered, in the form that the path multiplies         -
//   attend_scores    scores = q k * scale                                            cache blocks
//   attend_weights   scores, capped; weights = e^(score - highest), in place;        queries
//                    totals, their sums
//   attend_values    out = sum of weights * values / totals                          columns
//
// A row's bits do not depend on the split.
struct AttendArgs {
  const std::byte* cache = nullptr;
  int64_t block_stride = 0;             // bytes
  int32_t value_stride = 0;             // elements; head_size rounded up to kLanes
  const int32_t* blocks = nullptr;      // logical block -> physical block
  const int32_t* visible = nullptr;     // [rows]
  const uint64_t* ancestors = nullptr;  // [rows]
  const float* query = nullptr;         // [rows] of [heads, head_size]
  int64_t query_stride = 0;             // floats
  float* out = nullptr;                 // [rows] of [heads, head_size]
  int64_t out_stride = 0;
  int32_t rows = 0, heads = 0, head_size = 0;
  int32_t window = 0;         // keys that a row sees at most; 0: all of its path
  float scale = 0;            // of scores; 0: 1 / sqrt(head_size)
  float soft_cap = 0;         // scores become soft_cap * tanh(score / soft_cap); 0: they stay
  int32_t first_block = 0;    // attend_first_block(): that of the first scores
  float* queries = nullptr;   // scratch [rows * heads, head_size]; bf16 over a bf16 cache
  float* scores = nullptr;    // scratch [rows * heads, scores_stride]; over a bf16 cache as in bf16_softmax.h
  int64_t scores_stride = 0;  // at least kCacheRows * (attend_blocks - first_block)
  float* sums = nullptr;      // scratch [rows * heads, value_stride]
  float* totals = nullptr;    // scratch [rows * heads]
};
// The first key on a row's path that it sees. Always inline: no copy of it may be compiled for
// another path's CPU.
[[gnu::always_inline]] constexpr int32_t first_key(const AttendArgs& args, int32_t row) {
  if (args.window == 0) return 0;
  const int32_t keys = args.visible[row] + std::popcount(args.ancestors[row]);
  return keys < args.window ? 0 : keys - args.window;
}
// The first logical block in which any of the rows sees a key. Where a window begins within a
// tree, it is the block in which the tree does.
constexpr int32_t attend_first_block(const AttendArgs& args) {
  if (args.window == 0) return 0;
  int32_t first = args.visible[0];
  for (int32_t row = 0; row < args.rows; ++row) {
    const int32_t key = first_key(args, row) < args.visible[row] ? first_key(args, row) : args.visible[row];
    first = key < first ? key : first;
  }
  return first / kCacheRows;
}
// Behind the last logical block that any of the rows sees.
constexpr int32_t attend_blocks(const AttendArgs& args) {
  int32_t seen = 0;
  for (int32_t row = 0; row < args.rows; ++row) {
    const int32_t end = args.visible[row] + static_cast<int32_t>(std::bit_width(args.ancestors[row]));
    seen = seen < end ? end : seen;
  }
  return (seen + kCacheRows - 1) / kCacheRows;
}
inline constexpr int32_t kAncestorsMax = 64;

struct NormArgs {
  float* residual = nullptr;     // [cols] += delta
  const float* delta = nullptr;  // [cols] or null
  const float* gain = nullptr;   // [cols]
  float* out = nullptr;          // [cols] = residual / rms(residual) * gain
  int32_t cols = 0;
  float eps = 0;
};

// Ranges are [first, last).
struct Kernels {
  CpuPath path = CpuPath::portable;
  LinearKernel linear[kWeightFormats];
  void (*to_bf16)(const float* in, int32_t count, uint16_t* out) = nullptr;  // null: no kernel of the path reads bf16
  // The rows of one tile of bf16_pairs, which has `tile_rows`; rows <= tile_rows. Null as above.
  void (*to_bf16_pairs)(const float* in, int32_t rows, int32_t cols, int32_t tile_rows, uint16_t* out) = nullptr;
  // One row, padded with zero columns. out: [activation_groups(cols)].
  void (*to_int8)(const float* in, int32_t cols, ActivationGroup* out) = nullptr;
  // What LinearArgs has of the outliers of rows. out: as many as it says there;
  // outlier_columns_max(rows, cols).
  void (*share_outliers)(const ActivationGroup* in, int32_t rows, int32_t cols, SharedOutlier* out) = nullptr;
  void (*outlier_columns)(const ActivationGroup* in, int32_t rows, int32_t cols, int32_t* out) = nullptr;
  CacheFormat cache = CacheFormat::f32;
  int32_t attend_queries_best = 0;  // rows * heads of a group that shares the loading of a block well
  int32_t screened_rows_best = 0;   // up to which an output layer is quicker by its copy (model/cpu/cpu_screen.h)
  void (*attend_queries)(const AttendArgs& args) = nullptr;
  void (*attend_scores)(const AttendArgs& args, int32_t first_block, int32_t last_block) = nullptr;
  void (*attend_weights)(const AttendArgs& args, int32_t first_query, int32_t last_query) = nullptr;
  // first_column: a multiple of kLanes.
  void (*attend_values)(const AttendArgs& args, int32_t first_column, int32_t last_column) = nullptr;
  void (*add_rms_norm)(const NormArgs& args) = nullptr;
  // Rotates the pair (element i, element i + half) of a head [2 * half] by angle i, whose cosine
  // and sine are given, [half].
  void (*rope)(float* head, const float* cosine, const float* sine, int32_t half) = nullptr;
  // out [half] = silu(gate) * up, where gate_up is gate [half], then up [half].
  void (*silu_gate)(const float* gate_up, int32_t half, float* out) = nullptr;
  // The same with GELU by tanh: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
  void (*gelu_gate)(const float* gate_up, int32_t half, float* out) = nullptr;
  // numbers [count] become cap * tanh(number / cap), each on its own. REQUIRES: cap > 0.
  void (*soft_cap)(float* numbers, int32_t count, float cap) = nullptr;
  // residual [cols] += silu(in [cols])
  void (*add_silu)(const float* in, int32_t cols, float* residual) = nullptr;
};

const Kernels& kernels(CpuPath path);  // REQUIRES (unchecked): the path is available
inline const LinearKernel& linear_kernel(const Kernels& kernels, WeightFormat format) {
  return kernels.linear[static_cast<int>(format)];
}

// Writes the rows from `first` on that are rounded together, of [rows, cols] activations, in the
// form that a linear kernel reads. out: [activation_bytes(kind, rows, cols)]. REQUIRES
// (unchecked): first is a multiple of rounded_together(kind).
void round_activations(const Kernels& kernels, Activations kind, const float* in, int32_t rows, int32_t cols, int32_t first,
                       std::byte* out);

// The tables behind kernels(). Each stands in a file of its own with its own compile flags.
extern const Kernels kPortableKernels, kAvx2Kernels, kAvx512Kernels, kAvx512VnniKernels, kAvx512Bf16Kernels, kAmxKernels,
    kAmxBf16Kernels;

}  // namespace slipstream
