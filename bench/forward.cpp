// Measures what a verify step costs: the time t(n) of n rows of one sequence, and t(n) / t(1) of a
// step of one row. With --head, also what a draft head adds to a step, and
// what its own passes cost.
//
//   build/release/bench/forward --model models/smollm2-135m-instruct --threads 2
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/model_flags.h"
#include "bench/one_sequence.h"
#include "bench/processor.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  ModelFlags model;
  int repeats = 15;
  std::vector<int> contexts{256};
  std::vector<int> rows{1, 2, 4, 8, 12, 16};
  std::string head;
  int extra = 0;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What is timed for each number of rows.
enum class Pass : uint8_t { plain, headed, draft };  // of the model, of the model beside its head, of the head
constexpr std::array kPassNames{"step", "step with head", "draft pass"};

constexpr int kTextTokens = 256;    // of what the model writes, before it is read again
constexpr TokenId kFirstToken = 1;  // which it writes behind

// A model behind its context, and the times of its passes.
class Timed {
 public:
  Timed(LanguageModel model, int32_t blocks) : model_(std::move(model)), pool_(blocks), sequence_(model_, pool_) {}
  Timed(const Timed&) = delete;

  const LanguageModel& model() const { return model_; }
  void set_extra(int32_t tokens) { extra_ = tokens; }  // of a row of a draft pass
  // From now on passes are behind that many tokens.
  Result<void> prepare(int context) {
    context_ = context;
    if (text_.empty()) TRY_VOID(write_text());
    sequence_.back_to(0);
    TRY_VOID(sequence_.run_prompt(text(0, context_)));
    return {};
  }
  Result<double> run(Pass pass, int rows) {  // milliseconds
    const std::vector<TokenId> tokens = text(context_, rows);
    sequence_.back_to(context_);
    const auto start = Clock::now();
    if (pass == Pass::draft) {
      TRY_VOID(sequence_.draft(tokens, extra_));
    } else {
      TRY_VOID(sequence_.run(tokens, true));
    }
    return milliseconds_since(start);
  }

 private:
  // A text of the model's own, since what a row costs depends on it: its outliers, and how many
  // tokens may be the likeliest.
  Result<void> write_text() {
    text_.push_back(kFirstToken);
    sequence_.set_temperature(1);
    while (text_.size() < kTextTokens) {
      TRY(const TokenId next, sequence_.run({&text_.back(), 1}, false));
      text_.push_back(next);
    }
    sequence_.set_temperature(0);
    return {};
  }
  std::vector<TokenId> text(int first, int count) const {
    std::vector<TokenId> tokens;
    for (int i = first; i < first + count; ++i) tokens.push_back(text_[static_cast<size_t>(i % kTextTokens)]);
    return tokens;
  }

  LanguageModel model_;
  BlockPool pool_;
  OneSequence sequence_;
  std::vector<TokenId> text_;
  int context_ = 0;
  int32_t extra_ = 0;
};

Result<void> print_table(const Options& options, int context, Timed& plain, std::optional<Timed>& headed) {
  TRY_VOID(plain.prepare(context));
  std::vector<Pass> passes{Pass::plain};
  if (headed) {
    TRY_VOID(headed->prepare(context));
    passes.insert(passes.end(), {Pass::headed, Pass::draft});
  }
  fmt::print("{}, {}, {} threads, behind {} tokens; median and least of {}\n{:<16} {:>6} {:>9} {:>9} {:>9} {:>9}\n",
             processor(), plain.model().numerics_id(), options.model.threads, context, options.repeats, "", "rows", "median ms",
             "t(n)/t(1)", "least ms", "t(n)/t(1)");
  // All take turns, so that other load on the machine affects all of them.
  const std::vector<int>& sizes = options.rows;
  std::map<std::pair<Pass, int>, std::vector<double>> times;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (const Pass pass : passes) {
      for (const int rows : sizes) {
        TRY(const double took, (pass == Pass::plain ? plain : *headed).run(pass, rows));
        times[{pass, rows}].push_back(took);
      }
    }
  }
  for (auto& [what, each] : times) std::ranges::sort(each);
  const auto median = static_cast<size_t>(options.repeats / 2);
  const std::vector<double>& one = times[{Pass::plain, 1}];
  for (const Pass pass : passes) {
    for (const int rows : sizes) {
      const std::vector<double>& each = times[{pass, rows}];
      fmt::print("{:<16} {:>6} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", kPassNames[static_cast<size_t>(pass)], rows,
                 each[median], each[median] / one[median], each[0], each[0] / one[0]);
    }
  }
  return {};
}

Result<void> print_tables(const Options& options) {
  const int32_t blocks = blocks_of_a_sequence(std::max(std::ranges::max(options.contexts), kTextTokens));
  TRY(LanguageModel model, options.model.load(blocks));
  Timed plain(std::move(model), blocks);
  std::optional<Timed> headed;
  if (!options.head.empty()) {
    TRY(LanguageModel with_head, options.model.load(blocks, options.head));
    headed.emplace(std::move(with_head), blocks);
    headed->set_extra(options.extra);
  }
  for (const int context : options.contexts) TRY_VOID(print_table(options, context, plain, headed));
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Times forward passes of a model");
  options.model.add_to(app);
  app.add_option("--context", options.contexts, "tokens before the timed rows; a table for each")
      ->capture_default_str()
      ->check(CLI::Range(1, 32'768));
  app.add_option("--rows", options.rows, "numbers of rows; 1 is among them, since ratios are to it")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--repeats", options.repeats, "runs of each size")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--head", options.head, "folder of a draft head: also time steps beside it, and its own passes");
  app.add_option("--extra", options.extra, "tokens that the head scores beside its own")
      ->capture_default_str()
      ->check(CLI::Range(0, slipstream::kExtraTokens));
  CLI11_PARSE(app, argc, argv);
  if (std::ranges::find(options.rows, 1) == options.rows.end()) options.rows.insert(options.rows.begin(), 1);
  if (const auto done = slipstream::print_tables(options); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
