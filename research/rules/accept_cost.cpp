// Measures what accepting and sampling costs at one node, from a row of logits to a token, noise
// included, on one thread:
//   coupled   the target's own token is sampled under new noise and compared with the drafted token
//   accepted  ratio: the distribution of the node's row is made, and the drafted token is accepted
//   refused   ratio: the distribution is made, the drafted token is rejected, and the residual is sampled
//   bonus     ratio: the distribution of a row without children is made, and a token is sampled from it
//
//   build/research/research/rules/accept_cost        prints the table; exits 1 where a bar is missed
//   build/research/research/rules/accept_cost --rows F --vocabulary V --temperature T --top-k K --top-p P
//                                                     prints one line of JSON for the rows in file F
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/cpu_time.h"
#include "bench/logit_row.h"
#include "bench/processor.h"
#include "common/base/check.h"
#include "common/sampling/sample_token.h"
#include "services/verifier/verify_job.h"

namespace slipstream {
namespace {

struct Options {
  std::string rows;
  int vocabulary = 49152, repeats = 300;
  SamplingParams sampling;
};

struct Costs {      // medians, in microseconds
  size_t kept = 0;  // tokens that the filters keep
  double coupled = 0, accepted = 0, refused = 0, bonus = 0;
  double highest() const { return std::max({coupled, accepted, refused, bonus}); }
};

double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

// Two draft distributions close to the row's own, as a draft model's would be: one with a token
// that is sure to be accepted, one that is likely to draft a token that the target rejects.
struct Drafted {
  OwnedDistribution near, wrong;
  TokenId welcome = -1, unwelcome = -1;
  size_t kept = 0;  // tokens of the target's distribution
};

Drafted drafted(std::span<const float> logits, const SamplingParams& sampling) {
  std::vector<float> off(logits.begin(), logits.end());
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal(0, 1);
  for (float& logit : off) logit += normal(random);
  ChainScratch scratch;
  OwnedDistribution p;
  Drafted draft;
  target_distribution(logits, sampling, scratch, p);
  draft.kept = p.ids.size();
  draft_distribution(off, sampling, scratch, draft.near);
  draft.welcome = *std::ranges::max_element(
      draft.near.ids, {}, [&](TokenId token) { return p.view().probability(token) / draft.near.view().probability(token); });
  draft.unwelcome = static_cast<TokenId>(std::ranges::min_element(logits) - logits.begin());
  off[static_cast<size_t>(draft.unwelcome)] = *std::ranges::max_element(off);
  draft_distribution(off, sampling, scratch, draft.wrong);
  return draft;
}

class Bench {
 public:
  Bench(std::span<const float> logits, const SamplingParams& sampling)
      : logits_(logits), sampling_(sampling), draft_(drafted(logits, sampling)) {}

  // Kinds take turns, so that other load on the machine affects all of them.
  Costs costs(int repeats) {
    std::vector<float> twice(logits_.begin(), logits_.end());  // rows of the node and of its child
    twice.insert(twice.end(), logits_.begin(), logits_.end());
    RejectionTask none = rejection_task({}), welcome = rejection_task(child(draft_.welcome, draft_.near)),
                  unwelcome = rejection_task(child(draft_.unwelcome, draft_.wrong));
    std::vector<double> coupled, bonus, refused, both;
    for (int i = 0; i < repeats; ++i) {
      none.round = welcome.round = unwelcome.round = static_cast<Round>(i);
      const RowSampling row{.seed = 7, .choice = 0, .position = static_cast<uint32_t>(i), .params = sampling_};
      coupled.push_back(timed([&] { return sample_token(logits_, row, choose_); }));
      bonus.push_back(timed([&] { return accept_in_job(none, Step{}, logits_, verify_).walk.emitted.back(); }));
      refused.push_back(timed([&] { return accept_in_job(unwelcome, Step{}, twice, verify_).walk.emitted.back(); }));
      both.push_back(timed([&] { return accept_in_job(welcome, Step{}, twice, verify_).walk.emitted.back(); }));
    }
    // The accepted case also samples a bonus token at the child; subtract that.
    const double last = median(bonus);
    return {.kept = draft_.kept,
            .coupled = median(coupled),
            .accepted = median(both) - last,
            .refused = median(refused),
            .bonus = last};
  }

 private:
  template <class Work>
  double timed(Work work) {
    const double began = cpu_microseconds();
    sink_ = work();
    return cpu_microseconds() - began;
  }

  DraftTree child(TokenId token, const OwnedDistribution& distribution) const {
    auto tree = DraftTree::make({{.token = token, .parent = kRoot, .survival = 0.5F}}, {distribution, {}}, Replacement::without,
                                static_cast<int32_t>(logits_.size()));
    CHECK(tree, "no tree to verify: {}", tree.error().message);
    return *std::move(tree);
  }
  RejectionTask rejection_task(DraftTree tree) const {
    return {.tree = std::move(tree), .acceptance = {.rule = Rule::ratio}, .sampling = sampling_, .seed = 7};
  }

  std::span<const float> logits_;
  SamplingParams sampling_;
  Drafted draft_;
  SamplingScratch choose_;
  VerifyScratch verify_;
  volatile TokenId sink_ = 0;
};

struct Case {
  std::string name;
  SamplingParams sampling;
  bool bound = true;  // the bars apply
};

// The bar: microseconds of one node, at most, with top-k or top-p on.
double bar(int vocabulary) { return vocabulary <= 49152 ? 30 : 80; }

bool print_table(const Options& options) {
  const std::vector<Case> cases{
      {"no filter", {}, false},
      {"top-k 40", {.top_k = 40}},
      {"top-p 0.95", {.top_p = 0.95F}},
      {"top-k 40, top-p 0.95", {.top_k = 40, .top_p = 0.95F}},
      {"top-k 40, temperature 0.3", {.temperature = 0.3F, .top_k = 40}},
      {"top-k 40, top-p 0.95, min-p 0.05, temp. 0.7", {.temperature = 0.7F, .top_k = 40, .top_p = 0.95F, .min_p = 0.05F}}};
  fmt::print("{}, one thread, CPU microseconds, medians of {}\n{:>10} {:<8} {:<44} {:>6} {:>8} {:>9} {:>8} {:>8} {:>5}\n",
             processor(), options.repeats, "vocabulary", "row", "filters", "kept", "coupled", "accepted", "refused", "bonus",
             "bar");
  bool met = true;
  for (const int vocabulary : {49152, 128256}) {
    for (const bool usual : {true, false}) {
      const std::vector<float> logits = usual ? logit_row(vocabulary, 3.6F, 17.0F) : logit_row(vocabulary, 3.0F);
      for (const Case& each : cases) {
        const Costs costs = Bench(logits, each.sampling).costs(options.repeats);
        const bool bound = usual && each.bound;
        const bool missed = bound && costs.highest() > bar(vocabulary);
        met = met && !missed;
        fmt::print("{:>10} {:<8} {:<44} {:>6} {:>8.1f} {:>9.1f} {:>8.1f} {:>8.1f} {:>5}{}\n", vocabulary,
                   usual ? "usual" : "wide", each.name, costs.kept, costs.coupled, costs.accepted, costs.refused, costs.bonus,
                   bound ? fmt::to_string(bar(vocabulary)) : "", missed ? " missed" : "");
      }
    }
  }
  return met;
}

// Prints means over the rows of a file of floats.
Result<void> print_rows(const Options& options) {
  const auto columns = static_cast<size_t>(options.vocabulary);
  std::ifstream file(options.rows, std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<size_t>(std::max<std::streamoff>(0, file.tellg()));
  if (bytes == 0 || bytes % (columns * sizeof(float)) != 0) {
    return fail("{} holds no rows of {} floats: name the file and its --vocabulary", options.rows, columns);
  }
  std::vector<float> logits(bytes / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(logits.data()), static_cast<std::streamsize>(bytes));
  const size_t rows = logits.size() / columns;
  Costs sum;
  for (size_t row = 0; row < rows; ++row) {
    const Costs costs = Bench(std::span(logits).subspan(row * columns, columns), options.sampling).costs(options.repeats);
    sum.coupled += costs.coupled;
    sum.accepted += costs.accepted;
    sum.refused += costs.refused;
    sum.bonus += costs.bonus;
  }
  const auto mean = [&](double total) { return total / static_cast<double>(rows); };
  fmt::print("{{\"rows\": {}, \"coupled\": {:.2f}, \"accepted\": {:.2f}, \"refused\": {:.2f}, \"bonus\": {:.2f}}}\n", rows,
             mean(sum.coupled), mean(sum.accepted), mean(sum.refused), mean(sum.bonus));
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Times accepting and sampling at one node on this CPU");
  app.add_option("--repeats", options.repeats, "of each kind")->capture_default_str()->check(CLI::Range(1, 100000));
  app.add_option("--rows", options.rows, "instead of the table: a file of rows of logits, floats");
  app.add_option("--vocabulary", options.vocabulary, "of --rows")->capture_default_str()->check(CLI::Range(2, 1 << 20));
  app.add_option("--temperature", options.sampling.temperature, "of --rows")->capture_default_str();
  app.add_option("--top-k", options.sampling.top_k, "of --rows; 0: off")->capture_default_str();
  app.add_option("--top-p", options.sampling.top_p, "of --rows; 1: off")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (options.rows.empty()) return slipstream::print_table(options) ? 0 : 1;
  slipstream::Result<void> done = slipstream::validate(options.sampling);
  if (done) done = slipstream::print_rows(options);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}
