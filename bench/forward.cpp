// What a step costs: the time of verifying 1, 2, 4, 8, 16 rows of one sequence, and the speed of plain greedy decoding.
//
//   build/release/bench/forward --model models/smollm2-135m-instruct --threads 2            the table t(n), t(n)/t(1)
//   build/release/bench/forward --model ... --decode 128 --prompt 1,4093,198                one line of JSON: ids and tokens/s
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/processor.h"
#include "common/config/kernel_choices.h"
#include "common/kv/block_table.h"
#include "common/model/language_model.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model, path = "auto", weights = "file";
  int threads = 2, context = 256, repeats = 15, decode = 0;
  std::vector<TokenId> prompt{1, 2, 3, 4};
};

// One sequence in a target of its own, greedy.
class Runner {
 public:
  Runner(LanguageModel target, int32_t positions)
      : target_(std::move(target)), pool_(positions / kBlockTokens + 4), blocks_(pool_) {}

  // Rows at positions from .., each behind the one before it: a prompt chunk, or a drafted chain, which costs the same.
  Result<TokenId> step(std::span<const TokenId> tokens, int32_t from, bool all_wanted) {
    blocks_.reserve(from + static_cast<int32_t>(tokens.size()));
    const size_t rows = tokens.size();
    std::vector<int32_t> position(rows), slot(rows), sequence(rows, 0), visible(rows), wanted;
    const std::vector<uint64_t> ancestors(rows, 0);
    for (size_t i = 0; i < rows; ++i) {
      position[i] = from + static_cast<int32_t>(i);
      slot[i] = blocks_.slot(position[i]);
      visible[i] = position[i] + 1;
      if (all_wanted || i + 1 == rows) wanted.push_back(static_cast<int32_t>(i));
    }
    const std::vector<RowSampling> sampling(wanted.size(), {.params = {.temperature = 0}});
    TRY(const auto chosen, target_.run({.token = tokens,
                                        .position = position,
                                        .slot = slot,
                                        .sequence = sequence,
                                        .visible = visible,
                                        .ancestors = ancestors,
                                        .block_table = blocks_.blocks(),
                                        .blocks_max = static_cast<int32_t>(blocks_.blocks().size()),
                                        .sampling = sampling,
                                        .wanted = wanted,
                                        .moves = {}}));
    return chosen.back();
  }
  const LanguageModel& target() const { return target_; }

 private:
  LanguageModel target_;
  BlockPool pool_;
  BlockTable blocks_;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Result<void> print_table(Runner& runner, const Options& options) {
  const std::vector<TokenId> context(static_cast<size_t>(options.context), 5);
  for (int32_t at = 0; at < options.context; at += 64) {
    TRY_VOID(runner.step(
        std::span(context).subspan(static_cast<size_t>(at), static_cast<size_t>(std::min(64, options.context - at))), at,
        false));
  }
  fmt::print("{}, {}, {} threads, behind {} tokens; median and least of {}\n{:>6} {:>9} {:>9} {:>9} {:>9}\n", processor(),
             runner.target().numerics_id(), options.threads, options.context, options.repeats, "rows", "median ms", "t(n)/t(1)",
             "least ms", "t(n)/t(1)");
  // Sizes take turns, so that a neighbour's load meets them all.
  const std::vector<int> sizes{1, 2, 4, 8, 16};
  std::vector<std::vector<double>> times(sizes.size());
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::vector<TokenId> rows(static_cast<size_t>(sizes[i]), 7);
      const auto start = Clock::now();
      TRY_VOID(runner.step(rows, options.context, true));
      times[i].push_back(milliseconds_since(start));
    }
  }
  for (auto& each : times) std::ranges::sort(each);
  const auto median = [&](size_t i) { return times[i][static_cast<size_t>(options.repeats / 2)]; };
  for (size_t i = 0; i < sizes.size(); ++i) {
    fmt::print("{:>6} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", sizes[i], median(i), median(i) / median(0), times[i][0],
               times[i][0] / times[0][0]);
  }
  return {};
}

Result<void> decode(Runner& runner, const Options& options) {
  const auto length = static_cast<int32_t>(options.prompt.size());
  TRY(TokenId token, runner.step(options.prompt, 0, false));
  std::vector<TokenId> output{token};
  const auto start = Clock::now();  // the first token belongs to the prompt
  for (int32_t i = 1; i < options.decode; ++i) {
    TRY(token, runner.step({&token, 1}, length + i - 1, false));
    output.push_back(token);
  }
  const double seconds = milliseconds_since(start) / 1e3;
  fmt::print("{{\"numerics\": \"{}\", \"tokens_per_s\": {:.2f}, \"tokens\": [{}]}}\n", runner.target().numerics_id(),
             (options.decode - 1) / seconds, fmt::join(output, ", "));
  return {};
}

Result<void> run(const Options& options) {
  const int32_t positions = std::max(options.context, static_cast<int32_t>(options.prompt.size())) + options.decode + 64;
  TRY(LanguageModel target, LanguageModel::load(options.model, {.threads = options.threads,
                                                                .path = cpu_path(options.path),
                                                                .weights = weight_format(options.weights),
                                                                .cache_blocks = positions / kBlockTokens + 4}));
  Runner runner(std::move(target), positions);
  return options.decode > 0 ? decode(runner, options) : print_table(runner, options);
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Times forward passes of a model on this CPU");
  app.add_option("--model", options.model, "Hugging Face folder or GGUF file")->required();
  app.add_option("--threads", options.threads, "compute threads")->capture_default_str();
  app.add_option("--path", options.path, "instructions; auto: the fastest")
      ->check(CLI::IsMember(slipstream::path_choices()))
      ->capture_default_str();
  app.add_option("--weights", options.weights, "format of the matrices; file: as the file has them")
      ->check(CLI::IsMember(slipstream::weights_choices()))
      ->capture_default_str();
  app.add_option("--context", options.context, "tokens before the timed rows")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--repeats", options.repeats, "runs of each size")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--decode", options.decode, "instead of the table: decode that many tokens greedily")
      ->check(CLI::Range(2, 4096));
  app.add_option("--prompt", options.prompt, "token ids before --decode")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::run(options); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
