// Measures what a verify step costs: the time t(n) of 1, 2, 4, 8, 12 and 16 rows of one sequence,
// and t(n) / t(1).
//
//   build/release/bench/forward --model models/smollm2-135m-instruct --threads 2
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "bench/model_flags.h"
#include "bench/one_sequence.h"
#include "bench/processor.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  ModelFlags model;
  int context = 256, repeats = 15;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Result<void> print_table(const Options& options) {
  const int32_t blocks = blocks_of_a_sequence(options.context);
  TRY(LanguageModel model, options.model.load(blocks));
  BlockPool pool(blocks);
  OneSequence sequence(model, pool);
  TRY_VOID(sequence.run_prompt(std::vector<TokenId>(static_cast<size_t>(options.context), 5)));
  fmt::print("{}, {}, {} threads, behind {} tokens; median and least of {}\n{:>6} {:>9} {:>9} {:>9} {:>9}\n", processor(),
             model.numerics_id(), options.model.threads, options.context, options.repeats, "rows", "median ms", "t(n)/t(1)",
             "least ms", "t(n)/t(1)");
  // Sizes take turns, so that other load on the machine affects all of them.
  const std::vector<int> sizes{1, 2, 4, 8, 12, 16};
  std::vector<std::vector<double>> times(sizes.size());
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::vector<TokenId> rows(static_cast<size_t>(sizes[i]), 7);
      sequence.back_to(options.context);
      const auto start = Clock::now();
      TRY_VOID(sequence.run(rows, true));
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

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Times forward passes of a model on this CPU");
  options.model.add_to(app);
  app.add_option("--context", options.context, "tokens before the timed rows")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--repeats", options.repeats, "runs of each size")->capture_default_str()->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::print_table(options); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
