// When the next step starts, and how large it may be. start_step() (step.cpp) asks two questions:
// which sequences are ready, and does the step wait for a tree that is due? Afterwards the schedule
// observes what the step took.
//
//   schedule.cut_trees(ready);          // each tree keeps the nodes that are worth their rows
//   gather(ready, ...);                 // the rows
//   schedule.set_prices(sequences);     // what is worth asking for next
//
// A step waits for trees only while the wait budget (speculation/wait_budget.h) pays for it, and
// never past their deadlines. Prices come from the cost model (engine/cost_model.h). Pure: it has
// no clock, and changes of a sequence only its held tree and what it may ask for.
#pragma once

#include <optional>
#include <vector>

#include "common/engine/cost_model.h"
#include "common/speculation/wait_budget.h"
#include "services/verifier/counters.h"
#include "services/verifier/gather.h"
#include "services/verifier/rounds.h"

namespace slipstream {

// The sequences that can compute now.
struct Ready {
  std::vector<VerifierSequence*> sequences;
  bool trees_due = false;        // trees of the leads of some of them are still to come in time
  std::optional<Time> wait_for;  // until the last of these trees that is worth it (speculation/worth_waiting.h)
  KindIndex awaited = 0;         // whose tree that is
  bool kept_back = false;        // a sequence is left out: its rule waits for its tree alone, or its grammar follows
  double plain_seconds = 0;      // that a step of those that decode takes without drafts; 0: none decodes
};

// The cost model is fitted to usual steps. It does not know what the logits of a prompt's rows
// cost.
enum class StepKind : uint8_t { usual, scores_prompts };

class Schedule {
 public:
  Schedule(const VerifierConfig& config, Rounds& rounds, VerifierCounters& counters);

  Ready ready(const VerifierSequences& sequences, Time now) const;
  // True: the step stands ready, and waits for a tree. The wait goes on at the next call, until it
  // ends.
  bool waits(const Ready& ready, Time now);
  // The trees that this sequence awaits, if a step that has its root would use them.
  std::vector<AwaitedTree> awaited(const VerifierSequence& sequence, Time now) const;

  GatherLimits limits() const;
  // Cuts the trees of the sequences that are ready to the nodes that pay for themselves in the step
  // that starts now. The nodes that are cut are settled as trimmed. A tree whose rule keeps its
  // budget (tree_timing.h) is left alone.
  void cut_trees(std::span<VerifierSequence* const> ready);
  // What the sequences that decode may ask for next, by the load of the step that starts now:
  //   a rule that keeps its budget   as many nodes as pay for themselves at its rate of acceptance.
  //                                  It is left alone from when it asks until a step has its root
  //   any other                      nodes that gain at least the price of one
  void set_prices(const VerifierSequences& sequences);

  void started(StepLoad load, StepKind kind, Time now);
  // The step that was started has ended. forward: time of its forward pass. accepted_each: mean
  // number of accepted nodes of the sequences that decoded in it.
  void ended(Time forward, double accepted_each, Time now);
  void failed();

  // When waits() may answer otherwise although nothing happens; nothing: no step waits.
  std::optional<Time> next() const;
  const CostModel& cost() const { return cost_; }

 private:
  void add_root(const VerifierSequence& sequence, StepLoad& roots) const;
  void count_wait(Time now);  // since waits() was last asked

  const VerifierConfig& config_;
  Rounds& rounds_;
  VerifierCounters& counters_;
  CostModel cost_;
  WaitBudget wait_budget_;
  std::optional<Time> waits_since_;  // a step stands ready since then, and waits
  Time looked_{};                    // and was found waiting at
  KindIndex awaited_ = 0;            // for a tree of that kind
  Time waited_{};                    // by the step in flight
  Time began_{};                     // of the step in flight
  StepLoad load_;                    // of the step in flight
  StepKind kind_ = StepKind::usual;  // of the step in flight
};

}  // namespace slipstream
