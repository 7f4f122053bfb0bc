// Measures what small-LM drafting costs: the time of one job that drafts for 1, 2, 4, 8 or 16
// sequences, as chains and as trees.
//
// After each job, the sequences go on as if the target had accepted the first --accept nodes of the
// first path. If that is the whole path, its last node was drafted but not forwarded, and adds a
// row for each sequence to the next job.
//
//   build/release/bench/drafting --model models/smollm2-135m-instruct --threads 2
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/processor.h"
#include "common/drafting/small_lm.h"
#include "common/model/cpu/cpu_device.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kSequences = 16;

struct Options {
  std::string model;
  int threads = 2, context = 200, repeats = 15, nodes = 8, depth = 4, accept = 2;
  float temperature = 0;
};

DraftKey key_of(uint64_t sequence) { return {Peer{1}, SequenceId{1, sequence + 1}}; }

// The first `most` tokens of the first path, then a token of the target's own (any id).
std::vector<TokenId> accepted(const TokenTree& tree, int most) {
  std::vector<TokenId> path;
  for (int at = kRoot, child = 0; child < tree.size(); ++child) {
    if (tree.nodes()[static_cast<size_t>(child)].parent != at || static_cast<int>(path.size()) == most) continue;
    path.push_back(tree.nodes()[static_cast<size_t>(child)].token);
    at = child;
  }
  path.push_back(11);
  return path;
}

struct Timing {
  int nodes = 0;                     // of all trees
  uint64_t passes = 0, rows = 0;     // of all jobs
  std::vector<double> milliseconds;  // of each job
};

Result<void> time_job(SmallLm& method, const StopRule& rule, uint64_t sequences, int accept, Timing& timing) {
  std::vector<DraftAsk> asks;
  for (uint64_t i = 0; i < sequences; ++i) asks.push_back({key_of(i), rule});
  const MethodWork before = method.work();
  const auto start = Clock::now();
  TRY(const auto trees, method.draft(asks));
  timing.milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  timing.passes += method.work().passes - before.passes;
  timing.rows += method.work().rows - before.rows;
  for (uint64_t i = 0; i < sequences; ++i) {
    timing.nodes += trees[i]->size();
    method.advance(key_of(i), accepted(trees[i]->tokens(), accept));
  }
  return {};
}

Result<void> print_table(SmallLm& method, const Options& options, const std::string& shape, const StopRule& rule) {
  for (uint64_t i = 0; i < kSequences; ++i) {  // distinct texts, prefilled but for the last token
    std::vector<TokenId> tokens;
    for (int at = 0; at < options.context; ++at) {
      tokens.push_back(static_cast<TokenId>((1000 * (i + 1) + 37 * static_cast<uint64_t>(at)) % 40'000));
    }
    method.begin(key_of(i), {.prompt_length = options.context, .sampling = {.temperature = options.temperature}, .seed = i});
    method.advance(key_of(i), tokens);
    for (bool learnt = false; !learnt;) {
      const std::vector<DraftAsk> ask{{key_of(i), {.nodes_max = 1}}};
      TRY(const auto trees, method.draft(ask));
      learnt = trees[0].has_value();
    }
    method.advance(key_of(i), std::vector<TokenId>{11});
  }
  const std::vector<uint64_t> sizes{1, 2, 4, 8, 16};
  std::vector<Timing> timings(sizes.size());
  // Sizes take turns, so that other load on the machine affects all of them.
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      TRY_VOID(time_job(method, rule, sizes[i], options.accept, timings[i]));
    }
  }
  fmt::print("\n{}\n{:>9} {:>9} {:>9} {:>11} {:>10} {:>12} {:>9}\n", shape, "sequences", "median ms", "t(n)/t(1)", "nodes/tree",
             "passes/job", "rows/pass", "least ms");
  for (size_t i = 0; i < sizes.size(); ++i) {
    Timing& at = timings[i];
    std::ranges::sort(at.milliseconds);
    const double median = at.milliseconds[at.milliseconds.size() / 2];
    const double first = timings[0].milliseconds[timings[0].milliseconds.size() / 2];
    fmt::print("{:>9} {:>9.2f} {:>9.2f} {:>11.1f} {:>10.1f} {:>12.1f} {:>9.2f}\n", sizes[i], median, median / first,
               at.nodes / static_cast<double>(options.repeats) / static_cast<double>(sizes[i]),
               static_cast<double>(at.passes) / options.repeats, static_cast<double>(at.rows) / static_cast<double>(at.passes),
               at.milliseconds.front());
  }
  return {};
}

Result<void> run(const Options& options) {
  for (const int siblings : {1, 4}) {
    TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = options.threads}));
    TRY(const auto method, SmallLm::load({.folder = options.model,
                                          .device = device,
                                          .cache_tokens = static_cast<int32_t>(kSequences) * (options.context + 2048),
                                          .vocabulary = 1 << 20,
                                          .siblings_max = siblings}));
    if (siblings == 1) {
      fmt::print("{}, {}, {} threads, behind {} tokens, temperature {}, {} nodes accepted a round; median and least of {}\n",
                 processor(), method->model().numerics_id(), options.threads, options.context, options.temperature,
                 options.accept, options.repeats);
    }
    const StopRule rule{.nodes_max = siblings == 1 ? options.depth : options.nodes, .depth_max = options.depth};
    const std::string shape = siblings == 1 ? fmt::format("chains of {} nodes", options.depth)
                                            : fmt::format("trees of {} nodes, {} deep at most", options.nodes, options.depth);
    TRY_VOID(print_table(*method, options, shape, rule));
  }
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Times the draft jobs of a small model on this CPU");
  app.add_option("--model", options.model, "Hugging Face folder")->required();
  app.add_option("--threads", options.threads, "compute threads")->capture_default_str();
  app.add_option("--context", options.context, "tokens of each sequence")->capture_default_str()->check(CLI::Range(1, 4096));
  app.add_option("--repeats", options.repeats, "jobs of each size")->capture_default_str()->check(CLI::Range(1, 100));
  app.add_option("--nodes", options.nodes, "of a tree")->capture_default_str()->check(CLI::Range(1, 63));
  app.add_option("--depth", options.depth, "of a tree, and length of a chain")->capture_default_str()->check(CLI::Range(1, 16));
  app.add_option("--accept", options.accept, "nodes of each tree")->capture_default_str()->check(CLI::Range(0, 16));
  app.add_option("--temperature", options.temperature, "0: greedy")->capture_default_str()->check(CLI::Range(0.0F, 2.0F));
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::run(options); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
