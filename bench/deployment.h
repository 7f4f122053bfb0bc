// A verifier's actor among drafters that guess a fixed text, in virtual time: what bench/worth
// measures.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bench/guessed_text.h"
#include "common/base/check.h"
#include "common/engine/pass.h"
#include "common/speculation/tree_growth.h"
#include "common/speculation/verdicts.h"
#include "services/verifier/verifier.h"

namespace slipstream::guessed {

inline constexpr Peer kRouter{1};

// The verifier's actor among its drafters. Each sequence may use all of them; the i-th begins with
// the one that stands at i in the list, and round again. output: tokens of an answer; behind each
// the same stream asks for another.
class Deployment {
 public:
  Deployment(std::vector<Drafter> drafters, int sequences, const CostModel& truth, int32_t output = kOutput)
      : drafters_(std::move(drafters)),
        truth_(truth),
        sequences_(static_cast<uint64_t>(sequences)),
        output_(output),
        verifier_(config(sequences, truth)) {
    tell(Woke{});
    tell(PeerUp{kRouter});
    tell(From<Welcome>{kRouter, {.router = 3, .heartbeat_ms = 100'000}});
    for (int i = 0; i < sequences; ++i) start(static_cast<uint64_t>(i));
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
  // Of the rounds in which the drafters were there, the share in which they were asked.
  double asked() const {
    uint64_t asked = 0, rounds = 0;
    for (const DraftKindCounters& kind : counters().draft_kinds) {
      asked += kind.rounds.at(static_cast<size_t>(RoundAsk::asked));
      rounds = std::accumulate(kind.rounds.begin(), kind.rounds.end(), rounds);
    }
    return rounds == 0 ? 0 : static_cast<double>(asked) / static_cast<double>(rounds);
  }

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

  void start(uint64_t number) {
    std::vector<DrafterRef> refs;
    for (size_t j = 0; j < std::min<size_t>(drafters_.size(), kDraftersPerSequenceMax); ++j)
      refs.push_back(ref((number + j) % drafters_.size()));
    std::vector<TokenId> prompt;
    for (int32_t position = 0; position < kPrompt; ++position) prompt.push_back(text(position));
    tell(From<Start>{kRouter,
                     {.sequence = {3, number},
                      .epoch = 1,
                      .spec = {.prompt_length = kPrompt,
                               .sampling = {.temperature = 0},
                               .acceptance = {.rule = Rule::greedy},
                               .output_max = output_},
                      .tokens = prompt,
                      .drafters = refs,
                      .draft_nodes_max = kNodes,
                      .draft_depth_max = kDepth,
                      .lease_ms = kLeaseMsMax}});
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
    if (finished) at(now_, [this, number = message.sequence.counter + sequences_] { start(number); });
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
  int32_t output_;
  Verifier verifier_;
  Time now_{};
  std::optional<Time> alarm_;
  std::priority_queue<Happening> agenda_;
  uint64_t happenings_ = 0;
  std::map<uint64_t, size_t> drafter_of_;
  std::map<size_t, Learning> learning_;  // of each drafter
};

}  // namespace slipstream::guessed
