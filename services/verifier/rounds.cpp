#include "services/verifier/rounds.h"

#include <algorithm>
#include <utility>

#include "services/verifier/received_tree.h"

namespace slipstream {
Arrival classify(const Fence& fence, const VerifierSequence& sequence, const TreeAsk& ask) {
  const SequenceDrafting& drafting = sequence.drafting;
  const int32_t length = sequence.context.size();
  if (fence.base_length > length) return sequence.timing().waits_alone ? Arrival::stale : Arrival::ahead;
  if (fence.round < drafting.round) return Arrival::late;
  const bool fits =
      fence.round == drafting.round && fence.base_length == length && fence.prefix_hash == sequence.context.hash().value();
  if (!fits || !ask.asked || ask.answered) return Arrival::stale;
  return sequence.step.root_in_step ? Arrival::late : Arrival::fresh;
}

void Rounds::begin(VerifierSequence& sequence, Time now, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  ++drafting.round;
  drafting.draft = {};
  drafting.draft.plain = sequence.follows;
  drafting.round_began = now;
  for (SequenceDrafter& drafter : drafting.drafters) drafter.ask = {};
  const bool worth =
      !drafting.draft.plain && drafting.draft_nodes_max > 0 && sequence.spec.output_max - sequence.context.output() > 1;
  if (worth && !head_samples(sequence)) pick(sequence, now, effects);
  if (worth && sequence.grammar && !is_sampled(sequence.spec.acceptance.rule)) draft_by_grammar(sequence);
  if (worth && resident_.drafts_for(sequence)) draft_here(sequence);
  for (SequenceDrafter& drafter : drafting.drafters) {
    const DrafterLink* link = links_.find(drafter.peer);
    const bool possible = worth && link != nullptr && link->attached;
    const RoundAsk what = why_not_asked(sequence, drafter);
    if (possible) ++counters_of(link->kind).rounds.at(static_cast<size_t>(what));
    const bool wanted = possible && what == RoundAsk::asked;
    unpark(sequence, drafter, wanted);
    if (wanted && !drafter.ask.answered) ask(sequence, drafter, now, effects);
  }
  keep_features(sequence);
  feed(sequence, effects);
}

// RoundAsk::asked: the drafter is asked for a tree, if it is there.
RoundAsk Rounds::why_not_asked(const VerifierSequence& sequence, const SequenceDrafter& drafter) const {
  // A tree that is waited for alone is asked for only once the step that uses it could be the next.
  if (sequence.timing().waits_alone && !sequence.decodes()) return RoundAsk::early;
  const RoundAsk what = why_rests(sequence, drafter);
  return what == RoundAsk::asked && !has_features(sequence, drafter) ? RoundAsk::early : what;
}

// The link of a drafter that brings little, to all sequences lately and to this one. Null: it
// brings more, or nobody learns what it brings.
DrafterLink* Rounds::link_of_little(const VerifierSequence& sequence, const SequenceDrafter& drafter) const {
  const Rule rule = sequence.spec.acceptance.rule;
  const bool asks_freely = drafter.backoff.rest() == DraftRest::none && !drafter.backoff.rests_between();
  DrafterLink* link = links_.find(drafter.peer);
  if (link == nullptr || asks_freely || is_sampled(rule)) return nullptr;
  const DrafterWorth& worth = (&drafter == sequence.drafting.lead() ? link->worth : link->added).of(rule);
  return worth.brings_little(row_price_, sequence.drafting.round_began) ? link : nullptr;
}

// Whether a drafter that brings little may be asked for that sequence.
bool Rounds::may_try(const DrafterLink& link, const VerifierSequence& sequence) {
  if (link.tried_for != 0) return link.tried_for == sequence.identity.number;
  return sequence.drafting.round <= kBeginsRounds || link.tried_steps >= kTriedSteps;
}

// RoundAsk::asked: its back-off lets it be asked, and it is not tried for another sequence.
RoundAsk Rounds::why_rests(const VerifierSequence& sequence, const SequenceDrafter& drafter) const {
  const DrafterLink* little = link_of_little(sequence, drafter);
  if (little != nullptr && !may_try(*little, sequence)) return RoundAsk::tried_elsewhere;
  switch (drafter.backoff.rest()) {
    case DraftRest::none:
      return RoundAsk::asked;
    case DraftRest::failures:
      return RoundAsk::fails;
    case DraftRest::empty_trees:
      return RoundAsk::stays_empty;
    case DraftRest::nothing_pays:
      return due_for_probe(sequence, drafter) ? RoundAsk::asked : RoundAsk::nothing_pays;
  }
  return RoundAsk::asked;
}

bool Rounds::due_for_probe(const VerifierSequence& sequence, const SequenceDrafter& drafter) const {
  DrafterLink* link = links_.find(drafter.peer);
  return link != nullptr && link->probes_of(sequence.spec.acceptance.rule).due();
}

// The tree that is asked for, or was there already, is a probe if one is due.
void Rounds::probe_if_due(const VerifierSequence& sequence, SequenceDrafter& drafter) {
  drafter.ask.probes = due_for_probe(sequence, drafter);
  if (drafter.ask.probes) links_.find(drafter.peer)->probes_of(sequence.spec.acceptance.rule).begins();
}

void Rounds::ask(VerifierSequence& sequence, SequenceDrafter& drafter, Time now, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  TreeAsk& ask = drafter.ask;
  ask.asked = true;
  ask.leads = &drafter == drafting.lead();
  ask.nodes = drafting.nodes_max(drafter);
  if (ask.leads) drafting.draft.nodes_asked = ask.nodes;
  probe_if_due(sequence, drafter);
  if (DrafterLink* little = link_of_little(sequence, drafter); little != nullptr) {
    if (std::exchange(little->tried_for, sequence.identity.number) != sequence.identity.number) little->tried_steps = 0;
  }
  ask.prefills = sequence.context.size() - drafter.holds >= kPrefillTokens;
  const Time patience = std::chrono::microseconds(drafter.tuning.deadline_us);
  const Time wait = sequence.timing().waits_alone ? config_.sampled_wait
                    : ask.prefills                ? std::min(patience, kPrefillWait)
                                                  : patience;
  ask.deadline = now + wait;
  drafter.asked_round = ask.prefills ? 0 : drafting.round;
  drafter.asked_at = now;
  advance(sequence, drafter, sequence.context.size(), effects);
}

// The drafter's own, cut to what the request allows and to what is asked for now. A tree of the
// ratio family has no threshold, so that its shape does not depend on what is sampled in it
// (adr/0008).
//
// Nodes that the router's threshold cuts are never verified, so nobody would learn when they become
// worth it. Some rounds therefore explore: they have no threshold but that of the price here. A
// probe has none.
Tuning Rounds::asked_tuning(const VerifierSequence& sequence, const SequenceDrafter& drafter) const {
  Tuning tuning = drafter.tuning;
  const bool sampled = is_sampled(sequence.spec.acceptance.rule);
  const bool explores = sequence.drafting.round % kExploreRounds == 0;
  const float tuned = explores ? 1.0F : tuning.threshold;
  tuning.threshold = sampled || drafter.ask.probes ? 1.0F : std::min(tuned, drafter.threshold);
  tuning.nodes_max = static_cast<uint16_t>(drafter.ask.nodes);
  tuning.depth_max = static_cast<uint16_t>(depth_of(sequence, drafter, sequence.context.size()));
  return tuning;
}

// A tree behind that many tokens is no deeper than what can be emitted behind them, or than the
// model's context.
int Rounds::depth_left(const VerifierSequence& sequence, int32_t base_length) const {
  const CachedSequence& context = sequence.context;
  const int32_t ahead = base_length - context.size();
  return std::min(sequence.spec.output_max - context.output() - 1, config_.context_max - 1 - context.root()) - ahead;
}

// How deep that drafter's tree behind so many tokens may be.
int Rounds::depth_of(const VerifierSequence& sequence, const SequenceDrafter& drafter, int32_t base_length) const {
  return std::clamp(depth_left(sequence, base_length), 0, sequence.drafting.depth_bound(drafter));
}

void Rounds::end(VerifierSequence& sequence, const VerifiedTree& verified, Time now) {
  SequenceDrafting& drafting = sequence.drafting;
  const bool sampled = is_sampled(sequence.spec.acceptance.rule);
  if (resident_.drafts_for(sequence)) resident_.probes(sequence.spec.acceptance.rule).stepped();
  if (head_.drafts()) head_.stepped(sequence.spec.acceptance.rule, drafting.head);
  std::vector<Own> own(drafting.drafters.size());
  const Own of_one{.verified = verified.tree.size(), .accepted = static_cast<int>(verified.path.size())};
  if (!sampled) {
    own = learn(sequence, verified, now);
    // What a grammar forced says nothing about the model of a drafter, which does not know of it.
    if (!sequence.grammar) keep_verdicts(drafting, verified);
  } else if (drafting.draft.head_asked) {
    end_head(sequence, of_one);
    // Where the answer ended in the tree, nobody knows how far it would have been accepted.
    if (of_one.verified > 0 && sequence.running()) head_.sampled(verified.tree.depth(), of_one.accepted);
    DraftKindCounters& counters = counters_of(head_.kind());
    counters.here = true;
    counters.rounds_verified += of_one.verified > 0 ? 1 : 0;
  } else if (SequenceDrafter* lead = drafting.lead()) {
    own.front() = of_one;
    if (const DrafterLink* link = links_.find(lead->peer); link != nullptr && of_one.verified > 0) {
      ++counters_of(link->kind).rounds_verified;
    }
    counters_.sampled_given_up += lead->ask.asked && !lead->ask.answered ? 1 : 0;
  }
  for (size_t i = 0; i < own.size(); ++i) end_ask(sequence, drafting.drafters[i], own[i], now);
  if (drafting.useless >= drafting.patience) pass_on(sequence, now);
}

void Rounds::count_probe(const VerifierSequence& sequence, const SequenceDrafter& drafter, const Own& own) {
  DrafterLink* link = links_.find(drafter.peer);
  if (link == nullptr) return;
  ProbeClock& clock = link->probes_of(sequence.spec.acceptance.rule);
  clock.stepped();
  if (own.seen || own.verified > 0) {
    clock.verified();
  } else if (drafter.ask.probes) {
    clock.failed();
  }
}

void Rounds::end_ask(VerifierSequence& sequence, SequenceDrafter& drafter, const Own& own, Time now) {
  SequenceDrafting& drafting = sequence.drafting;
  const TreeAsk& ask = drafter.ask;
  count_probe(sequence, drafter, own);
  if (DrafterLink* link = links_.find(drafter.peer)) {
    link->steps_unasked = ask.asked ? 0 : std::min(link->steps_unasked + 1, kEmptyGapSteps);
    const bool tried = link->tried_for == sequence.identity.number;
    if (tried || link->tried_for == 0) link->tried_steps = std::min(link->tried_steps + 1, kTriedSteps);
    if (tried && link->tried_steps == kTriedSteps) link->tried_for = 0;
  }
  // A drafter beside the lead is hardly waited for, so it is no failure of it to come too late: it
  // counts as one that had no guess.
  const bool late = ask.leads && ask.asked && (!ask.answered || ask.late);
  if (!ask.asked || (late && ask.prefills)) return drafter.backoff.plain_step();
  const bool failed = drafter.backoff.drafted_step(own.verified, own.accepted, late || ask.busy, drafting.price);
  const NodesWon won{.accepted = static_cast<double>(own.accepted), .verified = static_cast<double>(own.verified)};
  if (!late) drafter.tree_won.add(won, kTreesRemembered);
  // Before its first tree a drafter may still prefill: that says nothing about its worth.
  const Rule rule = sequence.spec.acceptance.rule;
  if (DrafterLink* link = links_.find(drafter.peer); link != nullptr && drafter.heard && !is_sampled(rule)) {
    DrafterWorth& worth = (ask.leads ? link->worth : link->added).of(rule);
    late ? worth.missed(now) : worth.asked(own.accepted, own.verified, now);
  }
  if (!ask.leads) return;
  if (const DrafterLink* link = links_.find(drafter.peer)) {
    DraftKindCounters& counters = counters_of(link->kind);
    ++(late ? counters.missed_deadlines : counters.met_deadlines);
  }
  if (own.accepted > 0) drafting.patience = kPatienceFirst;
  // In time and wrong is as bad as late; in time and empty is neither good nor bad.
  if (failed) {
    drafting.useless += ask.busy ? 2 : 1;
  } else if (own.accepted > 0 || own.verified == 0) {
    drafting.useless = 0;
  }
}

std::vector<AwaitedTree> Rounds::awaited(const VerifierSequence& sequence, Time now) const {
  std::vector<AwaitedTree> trees;
  for (const SequenceDrafter& drafter : sequence.drafting.drafters) {
    const TreeAsk& ask = drafter.ask;
    const DrafterLink* link = links_.find(drafter.peer);
    if (!ask.asked || ask.answered || (sequence.timing().waits_alone && (link == nullptr || !link->attached))) continue;
    const Time usual = link == nullptr ? Time{} : link->answers_in;
    const Time ends = ask.leads ? ask.deadline : std::min(ask.deadline, drafter.asked_at + kOverdueAnswers * usual);
    if (now >= ends) continue;
    const double gain = std::max(drafter.tree_won.gain(row_price_), 0.0);
    // A draft after plain steps is a probe: if it were not waited for, nobody would know its worth.
    const bool unknown = ask.probes || (ask.leads && drafter.backoff.backs_off());
    // Nobody knows when one comes that is later than usual: beside the lead it counts as the
    // longest wait for it.
    const Time in = expected_in(sequence, drafter, now);
    trees.push_back({.leads = ask.leads,
                     .kind = index_of(link == nullptr ? kOtherKind : link->kind),
                     .in = ask.leads || in > Time{} ? in : ends - now,
                     .ends = ends,
                     .gain = unknown ? std::max(kTreeGainFirst, gain) : gain});
  }
  return trees;
}

Time Rounds::expected_in(const VerifierSequence& sequence, const SequenceDrafter& drafter, Time now) const {
  const DrafterLink* link = links_.find(drafter.peer);
  return link == nullptr ? Time{} : std::max(link->answers_in - (now - sequence.drafting.round_began), Time{});
}

void Rounds::settle(VerifierSequence& sequence, const ParkedTree& parked, Fate fate) {
  sequence.fates.settle(parked.kind, static_cast<size_t>(parked.tree.size()), fate);
}

void Rounds::tree(From<Tree> event, VerifierSequence* sequence, Time now, Effects& effects) {
  Tree& message = event.message;
  const size_t nodes = message.nodes.size();
  DrafterLink* link = links_.find(event.peer);
  SequenceDrafter* drafter = sequence == nullptr ? nullptr : sequence->drafting.find(event.peer);
  const KindIndex kind = index_of(link == nullptr || link->kind.method.empty() ? kOtherKind : link->kind);
  if (drafter == nullptr || link == nullptr || !link->attached) {
    counters_.fates.arrive(kind, nodes);
    counters_.fates.settle(kind, nodes, Fate::stale);
    return;
  }
  if (message.no_nodes == NoNodes::leaving) link->attached = false;
  const SequenceDrafting& drafting = sequence->drafting;
  TreeAsk& ask = drafter->ask;
  drafter->heard = true;
  if (drafter->asked_round != 0 && message.fence.round == drafter->asked_round) {
    links_.answered(event.peer, now - drafter->asked_at, Time(message.draft_us));
  }
  sequence->fates.arrive(kind, nodes);
  const Arrival arrival = classify(message.fence, *sequence, ask);
  if (arrival == Arrival::late) return sequence->fates.settle(kind, nodes, Fate::late);
  if (arrival == Arrival::stale) return sequence->fates.settle(kind, nodes, Fate::stale);
  if (arrival == Arrival::fresh) {
    ask.busy = message.no_nodes == NoNodes::busy;
    ask.late = !ask.prefills && now > drafting.round_began + Time(drafter->tuning.deadline_us);
  }
  Result<DraftTree> tree = tree_of(message, sequence->spec.acceptance, config_.fingerprint.vocabulary);
  if (!tree) {
    if (sequence->timing().waits_alone) ask.answered = true;  // the round goes on plainly
    sequence->fates.settle(kind, nodes, Fate::invalid);
    return links_.strike(event.peer, now, effects);
  }
  if (arrival == Arrival::ahead) return park(*sequence, *drafter, message.fence, kind, *std::move(tree));
  ask.answered = true;
  if (sequence->timing().keeps_budget) {
    sequence->drafting.draft.tree = *std::move(tree);
    sequence->drafting.draft.kinds.assign(nodes, kind);
    return;
  }
  TokenTree sent = tree->tokens();
  const TreeBounds asked{ask.nodes, depth_of(*sequence, *drafter, sequence->context.size())};
  sequence->fates.settle(kind, cut(*tree, asked), Fate::trimmed);
  merge_in(*sequence,
           {.drafter = event.peer, .kind = kind, .tree = tree->tokens(), .gets_verdicts = true, .sent = std::move(sent)});
}

// It was not asked for, so it may be as large as any tree that is asked of its drafter.
void Rounds::park(VerifierSequence& sequence, SequenceDrafter& drafter, const Fence& fence, KindIndex kind, DraftTree tree) {
  const TreeBounds most{sequence.drafting.nodes_bound(drafter), depth_of(sequence, drafter, fence.base_length)};
  sequence.fates.settle(kind, cut(tree, most), Fate::trimmed);
  if (drafter.parked) settle(sequence, *drafter.parked, Fate::stale);
  ++counters_of(kind).parked;
  drafter.parked = {.base_length = fence.base_length, .prefix_hash = fence.prefix_hash, .kind = kind, .tree = std::move(tree)};
}

// A tree that was ahead becomes this round's if the commit reached exactly its base and a draft is
// wanted. A tree whose base the sequence has passed is stale. No verdicts are sent on one: they
// would be on the tree of the base that the drafter was told last, which is another.
void Rounds::unpark(VerifierSequence& sequence, SequenceDrafter& drafter, bool wanted) {
  if (!drafter.parked || drafter.parked->base_length > sequence.context.size()) return;
  ParkedTree parked = *std::exchange(drafter.parked, std::nullopt);
  const bool reached = parked.base_length == sequence.context.size() && parked.prefix_hash == sequence.context.hash().value();
  if (!wanted || !reached) return settle(sequence, parked, Fate::stale);
  ++counters_of(parked.kind).parked_used;
  drafter.ask.asked = drafter.ask.answered = true;
  drafter.ask.leads = &drafter == sequence.drafting.lead();
  probe_if_due(sequence, drafter);
  const TreeBounds asked{sequence.drafting.nodes_max(drafter), depth_of(sequence, drafter, sequence.context.size())};
  sequence.fates.settle(parked.kind, cut(parked.tree, asked), Fate::trimmed);
  merge_in(sequence, {.drafter = drafter.peer, .kind = parked.kind, .tree = parked.tree.tokens()});
}

void Rounds::release(VerifierSequence& sequence, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  sequence.fates.settle(drafting.draft.kinds, Fate::stale);
  drafting.draft = {};
  resident_.end(sequence);
  while (!drafting.drafters.empty()) leave(sequence, drafting.drafters.back().peer, effects);
}

}  // namespace slipstream
