// The inside of the verifier's actor. Its events are handled in verifier.cpp (peers), sequences.cpp
// (a sequence's life), step.cpp (compute) and head_step.cpp (drafts of the target's head); after
// each event keep_time, start_step, set_alarm and count run once, in this order.
//
// Invariants between events:
//   1. `slices` is not empty if and only if a step runs, and `by_head` if and only if the target's
//      head drafts; the compute job has the plan then (`computing`).
//   2. Every node that was received has one fate in counters.fates; a node is held if it is in a
//      sequence's draft, in its parked tree, or in a slice.
//   3. Of each grammar that a Start in `starts` has, one CompileGrammar is under way, and one
//      FollowGrammar of each sequence that `follows`. No id is both in `starts` and in `sequences`.
//   4. Each part of a sequence is written only by the files that sequence.h lists for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/engine/sequence_cache.h"
#include "common/grammar/grammar_cache.h"
#include "common/worker/worker.h"
#include "services/verifier/admission.h"
#include "services/verifier/drafter_links.h"
#include "services/verifier/gather.h"
#include "services/verifier/late_trees.h"
#include "services/verifier/resident.h"
#include "services/verifier/rounds.h"
#include "services/verifier/schedule.h"
#include "services/verifier/verifier.h"

namespace slipstream {

struct Verifier::State {
  using Effects = std::vector<Effect>;

  State(VerifierConfig given, std::unique_ptr<Method> method);

  // Events.
  void on(const WorkerEvent auto& event, Time now, Effects& effects) { worker.on(event, now, effects); }  // but these:
  void on(const PeerUp& event, Time now, Effects& effects);
  void on(const PeerDown& event, Time now, Effects& effects);
  void on(const From<RouterHeartbeat>& event, Time now, Effects& effects);
  void on(const Malformed& event, Time now, Effects& effects);
  void on(From<Start> event, Time now, Effects& effects);
  void on(From<Assign> event, Time now, Effects& effects);
  void on(const From<Ack>& event, Time now, Effects& effects);
  void on(const From<Cancel>& event, Time now, Effects& effects);
  void on(const From<Attached>& event, Time now, Effects& effects);
  void on(From<Tree> event, Time now, Effects& effects);
  void on(const From<Resync>& event, Time now, Effects& effects);
  void on(const From<Unknown>& event, Time now, Effects& effects);
  void on(GrammarCompiled event, Time now, Effects& effects);
  void on(GrammarFollowed event, Time now, Effects& effects);
  void on(Ran<VerifyPlan, StepOutput> event, Time now, Effects& effects);

  // After each event.
  void keep_time(Time now, Effects& effects);
  void start_step(Time now, Effects& effects);
  void set_alarm(Time now, Effects& effects);
  void count();

  bool admits(const Event& event) const;

  // Null: there is none, or it belongs to another epoch or router, or has ended while the step ran.
  VerifierSequence* find(SequenceId id, Epoch epoch);
  VerifierSequence* find(Peer router, SequenceId id, Epoch epoch);
  VerifierSequence* find(const BatchSlice& slice) { return find_number(slice.number); }
  VerifierSequence* find_number(uint64_t number);

  // Whether a Start brings nothing new: it is older than what is here, another router's, or
  // repeated. What it replaces ends.
  bool known(const From<Start>& event, Time now, Effects& effects);
  int64_t reporting() const;  // sequences, and Starts that wait, that report their draft trees
  void refuse(const From<Start>& event, const NotAdmitted& why, Effects& effects);
  // It is refused if there is no grammar.
  void begin(From<Start> event, const GrammarCache::Compiled& grammar, Time now, Effects& effects);
  // grammar: that the request follows; null: none.
  void admit(From<Start> event, std::shared_ptr<const Grammar> grammar, Time now, Effects& effects);
  // Keeps a report of the round's tree for the router, if there was any guess.
  void report_tree(VerifierSequence& sequence, const TokenTree& tree, const Walk& walked, int emitted);
  // A step emitted these tokens, and the sequence goes on. no_token: but for a row behind them that
  // was refused. False: it ends, since it is not known what the grammar allows there.
  bool follow_grammar(VerifierSequence& sequence, std::span<const TokenId> emitted, bool no_token, Effects& effects);
  // The same beside the loop; the sequence waits for it.
  static void follow_beside(VerifierSequence& sequence, std::span<const TokenId> emitted, Effects& effects);
  // The output says why.
  void cannot_follow(VerifierSequence& sequence, const std::string& why);
  // It has finished: only its tokens stay, until they are acked.
  void finish(VerifierSequence& sequence, Time now, Effects& effects);
  // Forgets it.
  void end(VerifierSequence& sequence, Time now, Effects& effects);
  // Settles the slice of a sequence that decodes, and begins its next round. Returns the accepted
  // nodes.
  int decoded(VerifierSequence& sequence, const BatchSlice& slice, const StepOutput& output, Time now, Effects& effects);
  // The step failed.
  void fail(VerifierSequence& sequence, const BatchSlice& slice, const std::string& reason, Time now, Effects& effects);
  // The output says how it ended.
  void end_by_error(VerifierSequence& sequence, const BatchSlice& slice, Time now, Effects& effects);
  // Lets the target's head draft for the sequences that are ready, where that pays. False: nobody
  // asks it, and the step may start.
  bool start_head(const Ready& ready, Time now, Effects& effects);
  void head_drafted(Ran<VerifyPlan, StepOutput> event, Time now, Effects& effects);
  // What the links know of their drafters now: for the counters, and for the routers.
  void count_drafters(Time now);
  void log_lateness(const VerifierSequence& sequence, Time now, Effects& effects);
  CachedSequence* victim_for(const CachedSequence& needy);  // the rule of common/engine/sequence_cache.h

  // Constant after construction.
  VerifierConfig config;

  // Between events.
  VerifierCounters counters;
  SequenceCache cache;
  std::optional<GrammarCache> grammars;
  std::vector<From<Start>> starts;  // that wait for their grammar, oldest first
  VerifierSequences sequences;
  uint64_t sequences_ever = 0;
  Worker worker;
  DrafterLinks links;
  Resident resident;
  ResidentHead head;
  Rounds rounds;
  Schedule schedule;
  LateTrees late_trees;

  // The job in flight.
  bool computing = false;
  Time head_began{};               // when the draft that is computed was handed over
  std::vector<BatchSlice> slices;  // of a step
  std::vector<uint64_t> by_head;   // numbers of the sequences that the head drafts for, in the order of the asks
  VerifyPlan plan;                 // its buffers, while no job runs
};

}  // namespace slipstream
