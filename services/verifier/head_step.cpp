// A draft of the target's head: a job between two steps, for the sequences that are ready.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/verifier/verifier_state.h"

namespace slipstream {

// The rows of a tree that grows lie behind the root: also those of nodes that deeper ones push out
// of the tree, so they may be more than it has nodes. A guess evicts no sequence for them.
bool Verifier::State::start_head(const Ready& ready, Time now, Effects& effects) {
  plan.clear();
  plan.step.blocks_max = schedule.limits().blocks_max;
  for (VerifierSequence* sequence : ready.sequences) {
    const auto rule = rounds.ask_head(*sequence, ready.plain_seconds);
    CachedSequence& context = sequence->context;
    if (!rule || !cache.reserve(context, context.root() + 1 + kTreeNodesMax, MayEvict::prefixes)) continue;
    sequence->step.in_step = true;  // so that it keeps its blocks; its drafters' trees are in time still
    by_head.push_back(sequence->identity.number);
    plan.head_asks.push_back(head_ask(context, sequence->spec, {sequence->identity.epoch, sequence->drafting.round}, *rule,
                                      sequence->drafting.words, config.draft_vocabulary ? &*config.draft_vocabulary : nullptr));
  }
  if (by_head.empty()) return false;
  computing = true;
  head_began = now;
  effects.push_back(Run<VerifyPlan>{std::move(plan)});
  return true;
}

// After an error nobody knows what lies in the cache behind the contexts, so they are computed
// anew.
void Verifier::State::head_drafted(Ran<VerifyPlan, StepOutput> event, Time now, Effects& effects) {
  plan = std::move(event.job);
  const std::vector<uint64_t> numbers = std::exchange(by_head, {});
  if (event.result) {
    const double passes_us = event.result->forward_us, draft_us = static_cast<double>((now - head_began).count());
    counters.head_passes += static_cast<uint64_t>(event.result->head.passes);
    head.drafted(event.result->head.passes, passes_us * 1e-6, std::max(passes_us, draft_us) * 1e-6);
  }
  if (!event.result)
    effects.push_back(Note{fmt::format("a draft of the target's head failed: {}", event.result.error().message), true});
  for (size_t i = 0; i < numbers.size(); ++i) {
    VerifierSequence* sequence = find_number(numbers[i]);
    if (sequence == nullptr || !sequence->running()) continue;  // it ended while the head drafted
    sequence->step = {};
    if (event.result) {
      sequence->context.computed(0);
      rounds.head_tree(*sequence, std::move(event.result->head.trees[i]));
    } else {
      sequence->context.forget();
    }
  }
  if (event.result) worker.computed(Time(event.result->forward_us));
}

}  // namespace slipstream
