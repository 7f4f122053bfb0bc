// Measures, in virtual time, how well a verifier chooses what drafts are worth: its tokens a second
// beside those of an oracle that knows the true chance of every guess and what every step costs,
// and beside those of TurboSpec's rule.
//
// The verifier is the product's actor. Its drafters guess a chain with a second guess beside each
// token; they know how likely each guess is right, and say it honestly, boastfully, modestly, or
// not at all. They grow their trees as the product's small models do, and some calibrate what they
// say by the target's verdicts, as those do. The target's text is fixed, and whether a guess is
// right was drawn beforehand, so all who choose the same nodes accept the same tokens. One run is
// deterministic and takes some seconds.
//
//   build/release/bench/worth
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/deployment.h"
#include "bench/guessed_text.h"
#include "common/engine/row_budget.h"

namespace slipstream {
namespace {

using namespace guessed;

// Chooses the trees of a step, behind sequences of these lengths. roots: the step without trees.
using Policy = std::function<std::vector<TokenTree>(std::span<const int32_t> lengths, const StepLoad& roots)>;

// Tokens a second of a verifier whose drafters are instant, and which knows what each step costs.
double speed_of(const Policy& policy, int sequences, const CostModel& cost) {
  std::vector<int32_t> lengths(static_cast<size_t>(sequences), kPrompt);
  double seconds = 0;
  int64_t tokens = 0;
  while (tokens < int64_t{sequences} * kMeasured) {
    StepLoad step;
    for (const int32_t length : lengths) step = step.with(1, length - 1);
    const std::vector<TokenTree> trees = policy(lengths, step);
    for (size_t i = 0; i < lengths.size(); ++i) {
      step.rows += trees[i].size();
      step.pairs += int64_t{lengths[i] - 1} * trees[i].size();
      const int more = accepted(trees[i], lengths[i]) + 1;
      lengths[i] += more;
      tokens += more;
    }
    seconds += cost.seconds(step);
  }
  return static_cast<double>(tokens) / seconds;
}

double plain(int sequences, const CostModel& cost) {
  return speed_of([](auto lengths, auto&) { return std::vector<TokenTree>(lengths.size()); }, sequences, cost);
}

// Cuts the true trees of every step by their true survivals.
double oracle(const Drafter& drafter, int sequences, const CostModel& cost) {
  const Policy policy = [&](std::span<const int32_t> lengths, const StepLoad& roots) {
    std::vector<TokenTree> trees;
    std::vector<std::vector<int32_t>> orders;
    std::vector<DraftCandidate> candidates;
    for (size_t i = 0; i < lengths.size(); ++i) {
      trees.push_back(guess(drafter, i, lengths[i]));
      std::vector<float> gains;
      for (const TreeNode& node : trees.back().nodes()) gains.push_back(node.survival);
      orders.push_back(best_first(gains));
      DraftCandidate& candidate = candidates.emplace_back(DraftCandidate{.gains = {}, .visible = lengths[i] - 1});
      for (const int32_t node : orders.back()) candidate.gains.push_back(gains[static_cast<size_t>(node)]);
    }
    const std::vector<int> kept = split_row_budget(candidates, roots, cost);
    for (size_t i = 0; i < lengths.size(); ++i) trees[i].keep(std::span(orders[i]).first(static_cast<size_t>(kept[i])));
    return trees;
  };
  return speed_of(policy, sequences, cost);
}

// TurboSpec's rule (2406.14066): every sequence drafts a chain of k tokens, where k maximises the
// goodput of the batch, B (1 - a^(k+1)) / (1 - a) / seconds(k), and a is a moving average of how
// often a drafted token is accepted whose predecessors were.
double turbo_spec(const Drafter& drafter, int sequences, const CostModel& cost) {
  constexpr double kWeight = 1.0 / 32;  // of the newest step
  double rate = 0.7;                    // until there is a step
  const Policy policy = [&, rate](std::span<const int32_t> lengths, const StepLoad& roots) mutable {
    int64_t visible = 0;
    for (const int32_t length : lengths) visible += length - 1;
    int best = 0;
    double best_goodput = 0, tokens = 0;
    for (int k = 0; k <= kDepth; ++k) {
      StepLoad step = roots;
      step.rows += k * static_cast<int32_t>(lengths.size());
      step.pairs += k * visible;
      tokens += std::pow(rate, k);
      const double goodput = tokens / cost.seconds(step);
      if (goodput <= best_goodput) continue;
      best = k;
      best_goodput = goodput;
    }
    std::vector<TokenTree> chains;
    int tried = 0, right = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      chains.push_back(guess(drafter, i, lengths[i], {.depth = best, .siblings = false}));
      const int more = accepted(chains.back(), lengths[i]);
      right += more;
      tried += std::min(more + 1, best);
    }
    if (tried > 0) rate += kWeight * (static_cast<double>(right) / tried - rate);
    return chains;
  };
  return speed_of(policy, sequences, cost);
}

// Rows are nearly free up to 64, as where a step is bound by reading the weights.
CostModel flat() {
  StepTimes times;
  for (size_t i = 0; i < times.size(); ++i) times[i] = 0.010 + 1e-5 * kCostRows[i] + 1e-4 * std::max(0, kCostRows[i] - 64);
  return {times, {}};
}
// SmolLM2-135M in its own 4 and 8 bits on two Zen 5 cores.
CostModel cpu() {
  StepTimes times;
  for (size_t i = 0; i < times.size(); ++i) times[i] = 0.0024 + 2.6e-4 * kCostRows[i];
  return {times, {}};
}

struct Measured {
  double speed = 0;  // tokens a second
  double nodes = 0;  // verified, a step and sequence
};

Measured measure(const Drafter& drafter, int streams, const CostModel& cost) {
  Deployment deployment({drafter}, streams, cost);
  const double speed = deployment.run();
  const VerifierCounters& c = deployment.counters();
  const auto verified = c.fates.of(Fate::accepted) + c.fates.of(Fate::rejected) + c.fates.of(Fate::unreached);
  return {speed, static_cast<double>(verified) / static_cast<double>(c.draft_rounds + c.plain_rounds)};
}

void one_drafter() {
  fmt::print("One drafter\n\n");
  fmt::print(
      "| rows cost | streams | drafter | says | to plain | to TurboSpec's rule | to the oracle | nodes a step and stream "
      "| to the oracle, if it learns from verdicts |\n|---|---|---|---|---|---|---|---|---|\n");
  const std::pair<const char*, CostModel> machines[] = {{"little", flat()}, {"a tenth of a step", cpu()}};
  for (const auto& [machine, cost] : machines) {
    for (const int streams : {1, 8, 32}) {
      for (const double easy : {0.8, 0.4}) {
        for (const auto& [says, power] : {std::pair{"the truth", 1.0}, {"too much", 0.3}, {"too little", 3.0}}) {
          const Drafter drafter{.name = "one", .easy = easy, .power = power};
          Drafter learns = drafter;
          learns.learns = true;
          const auto [speed, nodes] = measure(drafter, streams, cost);
          const double best = oracle(drafter, streams, cost);
          fmt::print("| {} | {} | {:.0f} % easy | {} | {:.2f} | {:.2f} | {:.3f} | {:.1f} | {:.3f} |\n", machine, streams,
                     100 * easy, says, speed / plain(streams, cost), speed / turbo_spec(drafter, streams, cost), speed / best,
                     nodes, measure(learns, streams, cost).speed / best);
        }
      }
    }
  }
}

void by_load() {
  fmt::print("\nOne drafter that says the truth, rows cost a tenth of a step\n\n");
  fmt::print("| streams | drafter | to plain | TurboSpec's rule to plain | nodes a step and stream |\n|---|---|---|---|---|\n");
  for (const double easy : {0.8, 0.4}) {
    for (const int streams : {1, 2, 4, 8, 16, 32, 64}) {
      const Drafter drafter{.name = "one", .easy = easy};
      const auto [speed, nodes] = measure(drafter, streams, cpu());
      const double undrafted = plain(streams, cpu());
      fmt::print("| {} | {:.0f} % easy | {:.2f} | {:.2f} | {:.2f} |\n", streams, 100 * easy, speed / undrafted,
                 turbo_spec(drafter, streams, cpu()) / undrafted, nodes);
    }
  }
}

void several() {
  const Drafter good{.name = "good", .easy = 0.8};
  const Drafter slow{.name = "slow", .easy = 0.8, .takes = Time(20'000)};
  const Drafter other{.name = "another", .easy = 0.8, .draws = 8};
  const Drafter useless{.name = "useless", .easy = 0};
  const Drafter liar{.name = "liar", .lies = true};
  fmt::print("\nSeveral drafters, rows cost a tenth of a step\n\n");
  fmt::print("| drafters | streams | to the good one alone | to plain |\n|---|---|---|---|\n");
  const std::pair<const char*, std::vector<Drafter>> fleets[] = {{"a slow and a quick one", {slow, good}},
                                                                 {"two that know other tokens", {good, other}},
                                                                 {"a liar, a useless and a good one", {liar, useless, good}},
                                                                 {"a liar", {liar}},
                                                                 {"a useless one", {useless}}};
  for (const auto& [name, drafters] : fleets) {
    for (const int streams : {1, 8}) {
      const double speed = Deployment(drafters, streams, cpu()).run();
      fmt::print("| {} | {} | {:.3f} | {:.3f} |\n", name, streams, speed / Deployment({good}, streams, cpu()).run(),
                 speed / plain(streams, cpu()));
    }
  }
}

// Drafters that are never right, by answers of one length after the other.
void useless_ones() {
  fmt::print("\nDrafters that are never right, rows cost a tenth of a step\n\n");
  fmt::print("| drafters | tokens of an answer | streams | to plain | of the rounds it is asked in |\n|---|---|---|---|---|\n");
  const Drafter sure{.name = "sure", .lies = true};
  const Drafter unsure{.name = "unsure", .lies = true, .sure = 0.3};
  const Drafter modest{.name = "modest", .lies = true, .sure = 0.01};
  const Drafter slow{.name = "slow", .lies = true, .takes = Time(2'500)};
  const Drafter late{.name = "late", .lies = true, .takes = Time(20'000)};
  const std::pair<const char*, std::vector<Drafter>> fleets[] = {
      {"sure of it", {sure}},    {"states 0.3", {unsure}},
      {"states 0.01", {modest}}, {"sure, just before its deadline", {slow}},
      {"late", {late}},          {"the first three", {sure, unsure, modest}}};
  for (const auto& [name, drafters] : fleets) {
    for (const int32_t output : {32, 200, kOutput}) {
      for (const int streams : {1, 4, 16}) {
        Deployment with(drafters, streams, cpu(), output);
        const double speed = with.run();
        fmt::print("| {} | {} | {} | {:.3f} | {:.3f} |\n", name, output, streams,
                   speed / Deployment({}, streams, cpu(), output).run(), with.asked());
      }
    }
  }
}

}  // namespace
}  // namespace slipstream

int main() {
  slipstream::one_drafter();
  slipstream::by_load();
  slipstream::several();
  slipstream::useless_ones();
}
