// Measures what the matrices of a forward pass cost for 1 to 16 rows, by format and instruction
// path, compared with a plain read of their bytes. The weights are synthetic, in the shapes of a
// model; only time is measured.
//
//   build/release/bench/linear --shape 135m --threads 1,2                  every path and format
//   build/release/bench/linear --shape 1b --path avx512_vnni --format q4_1
//   build/release/bench/linear --shape 135m --rows 1,256 --layers          a chunk of a prompt, whose rows need no head
#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/processor.h"
#include "common/base/check.h"
#include "common/model/cpu/arena.h"
#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/thread_pool.h"
#include "kernels/cpu/kernels.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

struct Shape {
  const char* name;
  int32_t layers, hidden, intermediate, heads, kv, vocabulary;  // heads, kv: columns of all heads together
};
constexpr Shape kShapes[] = {{"135m", 30, 576, 1536, 576, 192, 49152},
                             {"360m", 32, 960, 2560, 960, 320, 49152},
                             {"1b", 16, 2048, 8192, 2048, 512, 128256}};
constexpr int32_t kRowsMax = 1024;  // in one call

struct Options {
  std::string shape = "135m", path, format;
  std::vector<int> threads{1, 2};
  std::vector<int32_t> rows{1, 2, 4, 8, 12, 16};
  bool layers = false;  // without the head
  int repeats = 9;
};

struct Matrix {
  int32_t in, out;
  std::byte* panels;
  bool head;
};

// All matrices of a model in one format. All panels hold the same numbers, but each has its own
// memory, so that reading them costs the same as in a model. To a kernel of the other layout the
// same panels are another matrix, which costs the same.
class Weights {
 public:
  static Result<std::unique_ptr<Weights>> make(const Shape& shape, WeightFormat format, bool head) {
    auto weights = std::make_unique<Weights>();
    weights->format_ = format;
    for (int32_t layer = 0; layer < shape.layers; ++layer) {
      TRY_VOID(weights->add(shape.hidden, shape.heads + 2 * shape.kv, false));
      TRY_VOID(weights->add(shape.heads, shape.hidden, false));
      TRY_VOID(weights->add(shape.hidden, 2 * shape.intermediate, false));
      TRY_VOID(weights->add(shape.intermediate, shape.hidden, false));
    }
    if (head) {
      TRY_VOID(weights->add(shape.hidden, shape.vocabulary, true));
    }
    return weights;
  }
  std::span<const Matrix> matrices() const { return matrices_; }
  WeightFormat format() const { return format_; }
  int64_t bytes(const Matrix& matrix) const { return panels_of(matrix.out) * panel_bytes(format_, matrix.in); }

 private:
  Result<void> add(int32_t in, int32_t out, bool head) {
    const auto panel = static_cast<size_t>(panel_bytes(format_, in));
    TRY(std::byte * panels, arena_.array<std::byte>(static_cast<size_t>(panels_of(out)) * panel));
    std::mt19937 random(1);
    std::normal_distribution<float> draw;
    std::vector<float> row(static_cast<size_t>(in));
    for (int32_t r = 0; r < kPanelRows; ++r) {
      for (float& each : row) each = draw(random);
      pack_floats(format_, PanelLayout::words, row.data(), in, r, panels);
    }
    for (int32_t p = 1; p < panels_of(out); ++p) std::memcpy(panels + static_cast<size_t>(p) * panel, panels, panel);
    matrices_.push_back({in, out, panels, head});
    return {};
  }

  WeightFormat format_ = WeightFormat::bf16;
  Arena arena_;
  std::vector<Matrix> matrices_;
};

struct Times {
  double layers = 0, head = 0;  // ms
  double all() const { return layers + head; }
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The same grain as CpuOps::linear uses.
int32_t grain(const ThreadPool& pool, int32_t out) { return std::max(1, panels_of(out) / (pool.threads() * 8)); }

typedef uint64_t Word __attribute__((vector_size(64), may_alias));

// Reads every byte once, on all threads: the lower bound of a pass that does not find its weights
// in a cache.
Times read_all(const Weights& weights, ThreadPool& pool, std::vector<uint64_t>& sums) {
  Times times;
  for (const Matrix& matrix : weights.matrices()) {
    const auto start = Clock::now();
    const int64_t words = panel_bytes(weights.format(), matrix.in) / 64;
    pool.run(panels_of(matrix.out), grain(pool, matrix.out), [&](int32_t begin, int32_t end, int thread) {
      const auto* at = reinterpret_cast<const Word*>(matrix.panels);
      Word sum[4] = {};
      for (int64_t i = begin * words; i < end * words; i += 4) {
        for (int64_t j = 0; j < std::min<int64_t>(4, end * words - i); ++j) {
          __builtin_prefetch(reinterpret_cast<const char*>(at + i + j) + 4096);
          sum[j] ^= at[i + j];
        }
      }
      for (const Word& each : sum) sums[static_cast<size_t>(thread)] ^= each[0];
    });
    (matrix.head ? times.head : times.layers) += milliseconds_since(start);
  }
  return times;
}

class Pass {
 public:
  Pass(const Kernels& kernels, const Weights& weights, ThreadPool& pool, int32_t rows_max)
      : k_(kernels), weights_(weights), pool_(pool) {
    int32_t in = 0, out = 0;
    for (const Matrix& each : weights.matrices()) {
      in = std::max(in, each.in);
      out = std::max(out, each.out);
    }
    input_.assign(static_cast<size_t>(in) * static_cast<size_t>(rows_max), 1.0F);
    std::mt19937 random(2);
    std::normal_distribution<float> draw;
    for (float& each : input_) each = draw(random);
    activations_.resize(lines_of(activation_bytes(Activations::f32, rows_max, in)));
    out_.resize(lines_of(int64_t{4} * out * rows_max));
  }

  Times run(int32_t rows) {
    Times times;
    for (const Matrix& matrix : weights_.matrices()) {
      const auto start = Clock::now();
      one(matrix, rows);
      (matrix.head ? times.head : times.layers) += milliseconds_since(start);
    }
    return times;
  }

 private:
  void one(const Matrix& matrix, int32_t rows) {
    const LinearKernel& kernel = linear_kernel(k_, weights_.format());
    const bool as_they_are = kernel.in == Activations::f32;
    const int32_t together = rounded_together(kernel.in), calls = as_they_are ? 0 : (rows + together - 1) / together;
    pool_.run(calls, std::max(1, 8192 / (matrix.in * std::min(together, rows))), [&](int32_t begin, int32_t end, int) {
      for (int32_t call = begin; call < end; ++call) {
        round_activations(k_, kernel.in, input_.data(), rows, matrix.in, call * together, rounded());
      }
    });
    const LinearArgs args{.in = as_they_are ? static_cast<const void*>(input_.data()) : rounded(),
                          .panels = matrix.panels,
                          .out = reinterpret_cast<float*>(out_.data()),
                          .out_stride = matrix.out,
                          .rows = rows,
                          .in_cols = matrix.in,
                          .out_cols = matrix.out};
    pool_.run(panels_of(matrix.out), grain(pool_, matrix.out),
              [&](int32_t begin, int32_t end, int) { kernel.run(args, begin, end); });
  }

  std::byte* rounded() { return reinterpret_cast<std::byte*>(activations_.data()); }

  const Kernels& k_;
  const Weights& weights_;
  ThreadPool& pool_;
  std::vector<float> input_;
  std::vector<CacheLine> activations_, out_;
};

void least(Times& of, const Times& next, bool first) {
  of = first ? next : Times{std::min(of.layers, next.layers), std::min(of.head, next.head)};
}

double giga_flops(const Weights& weights, int32_t rows) {
  double each = 0;
  for (const Matrix& matrix : weights.matrices()) each += 2.0 * matrix.in * matrix.out;
  return each * rows / 1e9;
}

void print_row(CpuPath path, const Weights& weights, int threads, const Options& options) {
  ThreadPool pool(threads);
  Pass pass(kernels(path), weights, pool, std::ranges::max(options.rows));
  std::vector<uint64_t> sums(static_cast<size_t>(threads));
  std::vector<Times> times(options.rows.size());
  Times read;
  // Sizes take turns, so that other load on the machine affects all of them.
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    least(read, read_all(weights, pool, sums), repeat == 0);
    for (size_t i = 0; i < times.size(); ++i) least(times[i], pass.run(options.rows[i]), repeat == 0);
  }
  double bytes = 0;
  for (const Matrix& each : weights.matrices()) bytes += static_cast<double>(weights.bytes(each));
  fmt::print("{:<12} {:<5} {:>7} {:>7.2f} {:>6.1f}", name(path), name(weights.format()), threads, read.all(),
             bytes / read.all() / 1e6);
  for (const Times& each : times) fmt::print(" {:>7.2f}", each.all());
  for (size_t i = 1; i < times.size(); ++i) fmt::print(" {:>5.2f}", times[i].all() / times[0].all());
  fmt::print(" {:>6.2f}", read.layers / times[0].layers);
  if (!options.layers) fmt::print(" {:>6.2f}", read.head / times[0].head);
  fmt::print(" {:>8.0f}\n", giga_flops(weights, options.rows.back()) / times.back().all() * 1e3);
  CHECK(sums.size() == static_cast<size_t>(threads), "the read's sums are used, or the compiler may leave it out");
  std::fflush(stdout);
}

Result<void> run(const Options& options) {
  const auto shape = std::ranges::find(kShapes, options.shape, &Shape::name);
  if (shape == std::end(kShapes)) return fail("there is no shape {}: 135m, 360m or 1b", options.shape);
  fmt::print(
      "{}, matrices of the {} shape; least ms of {}; read: a plain read of the same bytes; share: of that read's speed\n",
      processor(), shape->name, options.repeats);
  fmt::print("{:<12} {:<5} {:>7} {:>7} {:>6}", "path", "", "threads", "read ms", "GB/s");
  for (const int32_t rows : options.rows) fmt::print(" {:>7}", fmt::format("n={}", rows));
  fmt::print("  t(n)/t(first) of the others; share at the first n of layers{}; Gflop/s at the last\n",
             options.layers ? "" : ", head");
  for (const WeightFormat format : kAllWeightFormats) {
    if (!options.format.empty() && options.format != name(format)) continue;
    TRY(const auto weights, Weights::make(*shape, format, !options.layers));
    for (const CpuPath path : available_cpu_paths()) {
      if (options.path.empty() ? path == CpuPath::portable : options.path != name(path)) continue;
      for (const int threads : options.threads) print_row(path, *weights, threads, options);
    }
  }
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Times the matrices of a forward pass on this CPU");
  app.add_option("--shape", options.shape, "135m, 360m or 1b")->capture_default_str();
  app.add_option("--threads", options.threads, "compute threads")->delimiter(',')->capture_default_str();
  app.add_option("--rows", options.rows, "numbers of rows at a time")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, slipstream::kRowsMax));
  app.add_flag("--layers", options.layers, "without the head, which a prompt's rows have no need of");
  app.add_option("--path", options.path, "one path; default: all but portable, which is slow");
  app.add_option("--format", options.format, "one format; default: all");
  app.add_option("--repeats", options.repeats, "runs of each size")->capture_default_str()->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::run(options); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
