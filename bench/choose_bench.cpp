// Time of choose() on one row, by vocabulary, shape of the row and chain; of one row's noise; and of the tokens of one position
// once that noise is there.
//   cmake --build --preset release --target choose_bench && build/release/bench/choose_bench
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/logit_row.h"
#include "common/sampling/choose.h"

namespace slipstream {
namespace {

// The noise of each iteration is new, unless `shared`: then it is that of a sibling row before.
void run(benchmark::State& state, SamplingParams params, float spread, bool shared) {
  const auto vocabulary = static_cast<int>(state.range(0));
  const std::vector<float> logits = logit_row(vocabulary, spread);
  ChooseScratch scratch;
  RowSampling row{.seed = 7, .choice = 0, .position = 0, .params = params};
  for (auto _ : state) {
    if (!shared) ++row.position;
    benchmark::DoNotOptimize(choose(logits, row, scratch));
  }
}

void noise(benchmark::State& state) {
  ChooseScratch scratch;
  RowSampling row{.seed = 7, .choice = 0, .position = 0, .params = {}};
  for (auto _ : state) {
    ++row.position;
    prepare(row, static_cast<int>(state.range(0)), scratch);
  }
}

void each_vocabulary(benchmark::internal::Benchmark* bench) { bench->Arg(49152)->Arg(128256)->Unit(benchmark::kMicrosecond); }

const SamplingParams kGreedy{.temperature = 0}, kPlain{}, kTopP{.top_p = 0.95F}, kTopK{.top_k = 40}, kMinP{.min_p = 0.05F},
    kAll{.temperature = 0.7F, .top_k = 40, .top_p = 0.95F, .min_p = 0.05F};

BENCHMARK(noise)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, greedy, kGreedy, 3.0F, false)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, plain, kPlain, 3.0F, false)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, plain_noise_made, kPlain, 3.0F, true)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, plain_flat, kPlain, 1.0F, false)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, top_p, kTopP, 3.0F, false)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, top_p_flat, kTopP, 1.0F, false)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, top_p_flat_noise_made, kTopP, 1.0F, true)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, top_k, kTopK, 3.0F, false)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, min_p, kMinP, 3.0F, false)->Apply(each_vocabulary);
BENCHMARK_CAPTURE(run, all_filters, kAll, 3.0F, false)->Apply(each_vocabulary);

}  // namespace
}  // namespace slipstream

BENCHMARK_MAIN();
