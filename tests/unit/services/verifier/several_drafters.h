// A stage for a sequence with drafters of several kinds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {

inline constexpr Peer kBeside{kDrafter.id + 1}, kFourth{kDrafter.id + 3};
inline const std::vector<DrafterRef> kAll{
    {77, "tcp://drafter"}, {78, "tcp://beside"}, {79, "tcp://third"}, {80, "tcp://fourth"}};

// The model says 1 for ever. Rows cost next to nothing, so that every node pays.
class SeveralDrafters : public VerifierStage {
 protected:
  explicit SeveralDrafters(double step_seconds = 0.008) : VerifierStage(config_with(cost_of(step_seconds, 0.00001))) {}

  Start drafted_by(size_t drafters) {
    Start start = second();
    start.drafters.assign(kAll.begin(), kAll.begin() + static_cast<ptrdiff_t>(drafters));
    start.spec.output_max = 900;
    start.spec.stop_ids = {};
    start.tokens = {1, 1, 1};
    start.lease_ms = kLeaseMsMax;
    return start;
  }
  // One drafter of each of these kinds is there, in the order of kAll.
  void meet(const std::vector<DraftKind>& kinds) {
    Start first = drafted_by(kinds.size());
    first.sequence.counter = 1;
    stage.hears(kRouter, first);
    for (size_t i = 0; i < kinds.size(); ++i) {
      const Peer peer{kDrafter.id + i};
      stage.up(peer);
      stage.hears(peer, Attached{.drafter = kAll[i].incarnation,
                                 .fingerprint = config().fingerprint,
                                 .method = kinds[i].method,
                                 .model = kinds[i].model});
    }
    step();
    stage.hears(kRouter, Cancel{first.sequence, 1});
    stage.forget();
  }
  void begin(size_t drafters) { stage.hears(kRouter, drafted_by(drafters)); }
  std::vector<To<Advance>> asks() {
    std::vector<To<Advance>> asks;
    while (!stage.silent<Advance>()) asks.push_back(stage.says<Advance>());
    return asks;
  }
  std::vector<Peer> asked() {
    std::vector<Peer> peers;
    for (const To<Advance>& ask : asks()) peers.push_back(ask.peer);
    return peers;
  }
  // The step that runs, or the one that starts when nobody is waited for any more.
  StepPlan& step_plan() {
    if (stage.rests()) stage.waits(3ms);
    return runs();
  }
  int step() {
    const auto rows = static_cast<int>(step_plan().wanted.size());
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(static_cast<size_t>(rows), 1), .forward_us = 8'000});
    stage.hears(kRouter, Ack{second().sequence, 1, static_cast<int32_t>(verifier.counters().output_tokens) - 1});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
    return rows;
  }
  uint64_t of(Fate fate) const { return verifier.counters().fates.of(fate); }
  KindIndex kind_index(const DraftKind& kind) const {
    const auto& kinds = verifier.counters().draft_kinds;
    return static_cast<KindIndex>(std::ranges::find(kinds, kind, &DraftKindCounters::kind) - kinds.begin());
  }
};

inline const DraftKind kLookUp{"ngram", ""}, kSmall{"small-lm", "small"}, kSmaller{"small-lm", "smaller"};

}  // namespace slipstream
