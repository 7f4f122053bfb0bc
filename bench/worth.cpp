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
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bench/guessed_text.h"
#include "common/base/check.h"
#include "common/engine/pass.h"
#include "common/engine/row_budget.h"
#include "common/speculation/tree_growth.h"
#include "common/speculation/verdicts.h"
#include "services/verifier/verifier.h"

namespace slipstream {
namespace {

using namespace guessed;

constexpr Peer kRouter{1};

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

// The verifier's actor among its drafters. Each sequence may use all of them; the i-th begins with
// the one that stands at i in the list, and round again.
class Deployment {
 public:
  Deployment(std::vector<Drafter> drafters, int sequences, const CostModel& truth)
      : drafters_(std::move(drafters)),
        truth_(truth),
        sequences_(static_cast<uint64_t>(sequences)),
        verifier_(config(sequences, truth)) {
    tell(Woke{});
    tell(PeerUp{kRouter});
    tell(From<Welcome>{kRouter, {.router = 3, .heartbeat_ms = 100'000}});
    for (int i = 0; i < sequences; ++i) {
      std::vector<DrafterRef> refs;
      for (size_t j = 0; j < std::min<size_t>(drafters_.size(), kDraftersPerSequenceMax); ++j)
        refs.push_back(ref((static_cast<size_t>(i) + j) % drafters_.size()));
      std::vector<TokenId> prompt;
      for (int32_t position = 0; position < kPrompt; ++position) prompt.push_back(text(position));
      tell(From<Start>{kRouter,
                       {.sequence = {3, static_cast<uint64_t>(i)},
                        .epoch = 1,
                        .spec = {.prompt_length = kPrompt,
                                 .sampling = {.temperature = 0},
                                 .acceptance = {.rule = Rule::greedy},
                                 .output_max = kOutput},
                        .tokens = prompt,
                        .drafters = refs,
                        .draft_nodes_max = kNodes,
                        .draft_depth_max = kDepth,
                        .lease_ms = kLeaseMsMax}});
    }
  }
  // Tokens a second until there are kMeasured for each sequence.
  double run() {
    while (verifier_.counters().output_tokens < sequences_ * kMeasured) {
      if (alarm_ && (agenda_.empty() || *alarm_ <= agenda_.top().at)) {
        now_ = std::max(now_, *std::exchange(alarm_, std::nullopt));
        tell(Woke{});
        continue;
      }
      CHECK(!agenda_.empty(), "nothing happens any more");
      auto next = agenda_.top();
      agenda_.pop();
      now_ = std::max(now_, next.at);
      next.happens();
    }
    return static_cast<double>(verifier_.counters().output_tokens) / (static_cast<double>(now_.count()) * 1e-6);
  }
  const VerifierCounters& counters() const { return verifier_.counters(); }

 private:
  struct Happening {
    Time at{};
    uint64_t number = 0;
    std::function<void()> happens;
    bool operator<(const Happening& other) const { return std::pair(at, number) > std::pair(other.at, other.number); }
  };

  static VerifierConfig config(int sequences, const CostModel& cost) {
    return {.process = {.incarnation = 5, .routers = {"tcp://router"}},
            .fingerprint = {.tokenizer = 7, .vocabulary = kVocabulary, .weights = 1},
            .numerics_id = "virtual",
            .cost = cost,
            .context_max = kPrompt + kOutput + 8,
            .cache_blocks = sequences * ((kPrompt + kOutput) / 32 + 4)};
  }
  static DrafterRef ref(size_t drafter) {
    return {.incarnation = drafter + 100,
            .endpoint = fmt::format("tcp://drafter{}", drafter),
            .tuning = {.nodes_max = kNodes, .depth_max = kDepth, .deadline_us = 3000}};
  }

  void at(Time when, std::function<void()> happens) { agenda_.push({when, ++happenings_, std::move(happens)}); }
  void tell(Verifier::Event event) {
    std::vector<Verifier::Effect> effects;
    verifier_.on(std::move(event), now_, effects);
    for (auto& effect : effects) std::visit([&](auto& what) { perform(what); }, effect);
  }
  template <class E>
  void perform(const E&) {}  // notes, heartbeats, releases
  void perform(const WakeAt& wake) { alarm_ = wake.at; }
  void perform(const Connect& connect) {
    for (size_t i = 0; i < drafters_.size(); ++i) {
      if (ref(i).endpoint != connect.endpoint) continue;
      drafter_of_[connect.peer.id] = i;
      at(now_, [this, peer = connect.peer] { tell(PeerUp{peer}); });
    }
  }
  void perform(const To<Attach>& attach) {
    const size_t drafter = drafter_of_.at(attach.peer.id);
    at(now_, [this, peer = attach.peer, drafter] {
      tell(From<Attached>{
          peer, {.drafter = drafter + 100, .fingerprint = config(1, truth_).fingerprint, .method = drafters_[drafter].name}});
    });
  }
  // What one drafter knows of itself, and of the tree that it drafted last for each sequence.
  struct Learning {
    struct Drafted {
      std::vector<ProposedChild> proposed;
      size_t nodes = 0;
    };
    Calibration calibration;
    DepthReliability counts{};
    std::map<uint64_t, Drafted> drafted;
  };
  TokenTree grow(size_t number, const Advance& advance) {
    const Drafter& drafter = drafters_[number];
    const uint64_t sequence = advance.fence.sequence.counter;
    const int32_t length = advance.fence.base_length + static_cast<int32_t>(advance.tokens.size());
    Learning& learning = learning_[number];
    Learning::Drafted& last = learning.drafted[sequence];
    if (advance.verdicts.size() == last.nodes + 1) {
      learn(last.proposed, advance.verdicts, learning.calibration, learning.counts);
    }
    const Tuning& tuning = advance.tuning;
    TreeGrowth growth({.nodes_max = tuning.nodes_max, .depth_max = tuning.depth_max, .threshold = tuning.threshold},
                      drafter.learns ? &learning.calibration : nullptr);
    while (!growth.frontier().empty()) {
      std::vector<std::vector<Ranked>> children;
      for (const TreeRow& row : growth.frontier()) {
        std::vector<Ranked>& ranked = children.emplace_back();
        // Nothing is guessed behind a second guess.
        if (row.depth > 0 && row.token != guesses(drafter, sequence, length + row.depth - 1).first) continue;
        const Guesses made = guesses(drafter, sequence, length + row.depth);
        const auto stated = [&](double chance) { return static_cast<float>(std::pow(chance, drafter.power)); };
        ranked = {{made.first, stated(made.chance)}, {made.second, stated(made.second_chance)}};
        if (made.second_chance == 0) ranked.pop_back();
        std::ranges::sort(ranked, std::ranges::greater{}, &Ranked::confidence);
      }
      const std::vector<std::span<const Ranked>> candidates(children.begin(), children.end());
      growth.add(candidates);
    }
    const TokenTree tree = growth.tree();
    last = {growth.proposed(), static_cast<size_t>(tree.size())};
    return tree;
  }
  void perform(const To<Advance>& advance) {
    if (!advance.message.draft) return;
    const Drafter& drafter = drafters_[drafter_of_.at(advance.peer.id)];
    const TokenTree guessed = grow(drafter_of_.at(advance.peer.id), advance.message);
    Tree tree{.fence = advance.message.fence};
    PrefixHash hash(tree.fence.prefix_hash);
    hash.add(advance.message.tokens);
    tree.fence.base_length += static_cast<int32_t>(advance.message.tokens.size());
    tree.fence.prefix_hash = hash.value();
    tree.nodes.assign(guessed.nodes().begin(), guessed.nodes().end());
    if (tree.nodes.empty()) tree.no_nodes = NoNodes::below_threshold;
    at(now_ + drafter.takes, [this, peer = advance.peer, tree] { tell(From<Tree>{peer, tree}); });
  }
  void perform(To<Tokens>& tokens) {
    const Tokens& message = tokens.message;
    const int32_t next = message.first_index + static_cast<int32_t>(message.ids.size());
    const bool finished = message.finish != Finish::none;
    at(now_, [=, this, sequence = message.sequence] { tell(From<Ack>{kRouter, {sequence, 1, next, finished}}); });
    at(now_, [this] { tell(From<RouterHeartbeat>{kRouter, {.router = 3}}); });
  }
  void perform(Run<VerifyPlan>& run) {
    StepOutput output;
    const StepPlan& plan = run.job.step;
    for (const int32_t row : plan.wanted) output.sampled_tokens.push_back(text(plan.position[static_cast<size_t>(row)] + 1));
    const double seconds = truth_.seconds(load_of(plan));
    output.forward_us = static_cast<uint32_t>(seconds * 1e6);
    at(now_ + Time(output.forward_us), [this, job = std::move(run.job), output]() mutable {
      tell(Ran<VerifyPlan, StepOutput>{std::move(job), std::move(output)});
    });
  }

  std::vector<Drafter> drafters_;
  CostModel truth_;
  uint64_t sequences_;
  Verifier verifier_;
  Time now_{};
  std::optional<Time> alarm_;
  std::priority_queue<Happening> agenda_;
  uint64_t happenings_ = 0;
  std::map<uint64_t, size_t> drafter_of_;
  std::map<size_t, Learning> learning_;  // of each drafter
};

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

}  // namespace
}  // namespace slipstream

int main() {
  slipstream::one_drafter();
  slipstream::by_load();
  slipstream::several();
}
