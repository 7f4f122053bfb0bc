// The drafter's actor together with its method: each draft job runs at once, on the loop's thread.
//
// Use it for methods that are quick(): an n-gram job takes microseconds, less than handing it to
// another thread. Use Drafter and a compute thread for all others.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "services/drafter/drafter.h"

namespace slipstream {

class InlineDrafter {
 public:
  using Event = std::variant<Woke, PeerUp, PeerDown, Malformed, RoutersNamed, From<Welcome>, From<Refuse>,
                             From<RouterHeartbeat>, From<Drain>, From<Attach>, From<Advance>, From<Release>, From<Unknown>>;
  using Effect = std::variant<Connect, Disconnect, WakeAt, To<Hello>, To<WorkerHeartbeat>, To<Leaving>, To<Attached>, To<Tree>,
                              To<Resync>, Note, Span>;

  // The method must outlive it.
  InlineDrafter(DrafterConfig config, Method& method) : drafter_(std::move(config)), method_(method) {}

  void on(Event event, Time now, std::vector<Effect>& effects) {
    std::visit([&](auto&& e) { tell(std::move(e), now, effects); }, std::move(event));
  }
  const DrafterCounters& counters() const { return drafter_.counters(); }

 private:
  void tell(Drafter::Event event, Time now, std::vector<Effect>& effects) {
    std::vector<Drafter::Effect> given;
    drafter_.on(std::move(event), now, given);
    for (Drafter::Effect& effect : given) {
      std::visit([&](auto&& e) { perform(std::move(e), now, effects); }, std::move(effect));
    }
  }
  // Ends in tell() again: the actor may start the next job in the same turn.
  void perform(Run<DraftPlan> run, Time now, std::vector<Effect>& effects) {
    Result<Drafts> result = run_draft(method_, run.job);
    tell(Ran<DraftPlan, Drafts>{std::move(run.job), std::move(result)}, now, effects);
  }
  template <class E>
  void perform(E effect, Time, std::vector<Effect>& effects) {
    effects.push_back(std::move(effect));
  }

  Drafter drafter_;
  Method& method_;
};

}  // namespace slipstream
