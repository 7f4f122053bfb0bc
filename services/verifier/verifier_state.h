// The inside of the verifier's actor. Events are taken in verifier.cpp (peers), sequences.cpp (a
// sequence's life) and steps.cpp (compute); after each event keep_time, start_step, set_alarm and
// count run once.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/engine/cost_model.h"
#include "common/engine/sequence_cache.h"
#include "common/speculation/wait_budget.h"
#include "common/worker/worker.h"
#include "services/verifier/drafting.h"
#include "services/verifier/gather.h"
#include "services/verifier/late_trees.h"
#include "services/verifier/verifier.h"

namespace slipstream {

struct Verifier::State {
  using Effects = std::vector<Effect>;

  explicit State(VerifierConfig given);

  // Events.
  void take(const WorkerEvent auto& event, Time now, Effects& effects) { worker.take(event, now, effects); }  // but these:
  void take(const PeerUp& event, Time now, Effects& effects);
  void take(const PeerDown& event, Time now, Effects& effects);
  void take(const From<RouterHeartbeat>& event, Time now, Effects& effects);
  void take(const Malformed& event, Time now, Effects& effects);
  void take(From<Start> event, Time now, Effects& effects);
  void take(From<Assign> event, Time now, Effects& effects);
  void take(const From<Ack>& event, Time now, Effects& effects);
  void take(const From<Cancel>& event, Time now, Effects& effects);
  void take(const From<Attached>& event, Time now, Effects& effects);
  void take(From<Tree> event, Time now, Effects& effects);
  void take(const From<Resync>& event, Time now, Effects& effects);
  void take(const From<Unknown>& event, Time now, Effects& effects);
  void take(Ran<VerifyPlan, StepOutput> event, Time now, Effects& effects);

  // After each event.
  void keep_time(Time now, Effects& effects);
  void start_step(Time now, Effects& effects);
  void set_alarm(Time now, Effects& effects);
  void count();

  bool admits(const Event& event) const;
  VerifierSequence* find(SequenceId id, Epoch epoch);
  VerifierSequence* find(Peer router, SequenceId id, Epoch epoch);
  VerifierSequence* find(const BatchSlice& slice);
  void admit(Peer router, Start start, Time now, Effects& effects);
  void end(VerifierSequence& sequence, Effects& effects);  // forgets it
  bool waits_for_draft(const VerifierSequence& sequence, Time now) const;
  void split_row_budget();                                               // of the next round's trees
  CachedSequence* victim_for(const CachedSequence& needy);               // who makes room for it (engine/sequence_cache.h)
  void deliver(VerifierSequence& sequence, Time now, Effects& effects);  // what the window lets through
  int decoded(VerifierSequence& sequence, const BatchSlice& slice, const StepOutput& output, Time now, Effects& effects);
  void log_lateness(const VerifierSequence& sequence, Time now, Effects& effects);
  void stop(VerifierSequence& sequence, Effects& effects);  // finished: holds its tokens until they are acked, nothing else

  VerifierConfig config;
  VerifierCounters counters;
  SequenceCache cache;
  std::vector<std::unique_ptr<VerifierSequence>> sequences;  // oldest first
  Worker worker;
  Drafting drafting;
  uint64_t lives = 0;

  // The step in flight, if any.
  bool computing = false;
  std::vector<BatchSlice> slices;
  StepLoad load;
  Time step_began{};
  std::optional<Time> waits_since;  // a step stands ready, but a tree is due
  Time waited{};                    // by the step in flight
  WaitBudget wait_budget;
  CostModel cost;
  LateTrees late_trees;
  VerifyPlan plan;  // its buffers, while none is in flight
};

}  // namespace slipstream
