// Measures the sampling of a token: one row by vocabulary, spread of the logits and sampling chain;
// the noise of one row; one row whose noise is already there; and the extra cost of rows that ask
// for it: a processed copy, and logprobs.
//   cmake --build --preset release --target sample_token_bench && build/release/bench/sample_token_bench
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/logit_row.h"
#include "common/sampling/logits_processor.h"
#include "common/sampling/logprobs.h"
#include "common/sampling/sample_token.h"

namespace slipstream {
namespace {

// Each iteration uses new noise, unless `shared`: then it reuses the noise, as a row of the same
// position does.
void run(benchmark::State& state, SamplingParams params, float spread, bool shared) {
  const auto vocabulary = static_cast<int>(state.range(0));
  const std::vector<float> logits = logit_row(vocabulary, spread);
  SamplingScratch scratch;
  RowSampling row{.seed = 7, .choice = 0, .position = 0, .params = params};
  for (auto _ : state) {
    if (!shared) ++row.position;
    benchmark::DoNotOptimize(sample_token(logits, row, scratch));
  }
}

void noise(benchmark::State& state) {
  SamplingScratch scratch;
  RowSampling row{.seed = 7, .choice = 0, .position = 0, .params = {}};
  for (auto _ : state) {
    ++row.position;
    prepare(row, static_cast<int>(state.range(0)), scratch);
  }
}

// Times the processing of one row's copy: penalties over a thousand tokens of prompt and output, a
// path of eight tokens, and a few biases.
void edit(benchmark::State& state) {
  const auto vocabulary = static_cast<int>(state.range(0));
  const std::vector<float> logits = logit_row(vocabulary, 3.0F);
  std::mt19937_64 random(2);
  std::vector<TokenId> tokens(1008);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random() % logits.size());
  LogitsProcessor logits_processor({.repetition_penalty = 1.1F, .frequency_penalty = 0.5F, .bias = {{7, 1.0F}, {9, -1.0F}}});
  logits_processor.add_prompt(std::span(tokens).first(600));
  logits_processor.add_output(std::span(tokens).subspan(600, 400));
  std::vector<float> copy;
  RowEdits edits;
  for (auto _ : state) {
    edits.begin(vocabulary);
    logits_processor.edit(std::span(tokens).last(8), edits);
    copy.assign(logits.begin(), logits.end());
    edits.apply(copy);
    benchmark::DoNotOptimize(copy.data());
  }
}

void logprobs(benchmark::State& state) {
  const std::vector<float> logits = logit_row(static_cast<int>(state.range(0)), 3.0F);
  ChainScratch scratch;
  for (auto _ : state) benchmark::DoNotOptimize(logprob_of(logits, 5, kTopLogprobsMax, scratch));
}

void each_vocabulary(benchmark::internal::Benchmark* bench) { bench->Arg(49152)->Arg(128256)->Unit(benchmark::kMicrosecond); }

const SamplingParams kGreedy{.temperature = 0}, kPlain{}, kTopP{.top_p = 0.95F}, kTopK{.top_k = 40}, kMinP{.min_p = 0.05F},
    kAll{.temperature = 0.7F, .top_k = 40, .top_p = 0.95F, .min_p = 0.05F};

BENCHMARK(noise)->Apply(each_vocabulary);
BENCHMARK(edit)->Apply(each_vocabulary);
BENCHMARK(logprobs)->Apply(each_vocabulary);
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
