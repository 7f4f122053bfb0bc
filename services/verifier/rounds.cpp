#include "services/verifier/rounds.h"

#include <algorithm>
#include <utility>

#include "services/verifier/received_tree.h"

namespace slipstream {
namespace {

void set_held(VerifierSequence& sequence, int32_t tokens) {
  SequenceDrafting& drafting = sequence.drafting;
  drafting.drafter_holds = tokens;
  drafting.drafter_prefix = {};
  drafting.drafter_prefix.add(std::span(sequence.context.tokens()).first(static_cast<size_t>(tokens)));
}

}  // namespace

Arrival classify(const Fence& fence, const VerifierSequence& sequence) {
  const SequenceDrafting& drafting = sequence.drafting;
  const int32_t length = sequence.context.size();
  if (!sequence.running()) return Arrival::late;
  if (fence.base_length > length) return sequence.timing().waits_alone ? Arrival::stale : Arrival::ahead;
  if (fence.round < drafting.round) return Arrival::late;
  const bool fits =
      fence.round == drafting.round && fence.base_length == length && fence.prefix_hash == sequence.context.hash().value();
  if (!fits || !drafting.draft.asked || drafting.draft.answered) return Arrival::stale;
  return sequence.step.root_in_step ? Arrival::late : Arrival::fresh;
}

void Rounds::begin(VerifierSequence& sequence, Time now, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  ++drafting.round;
  drafting.draft = {};
  drafting.round_began = now;
  const bool waits_alone = sequence.timing().waits_alone;
  const bool worth = drafting.tuning.nodes_max > 0 && sequence.spec.output_max - sequence.context.output() > 1;
  const bool possible = worth && pick(sequence, effects) != nullptr;
  // A tree that is waited for alone is asked for only once the step that uses it could be the next.
  const bool timely = !waits_alone || sequence.decodes();
  const bool wanted = possible && timely && drafting.backoff.wants_draft();
  if (worth && resident_.drafts_for(sequence)) draft_here(sequence);
  unpark(sequence, wanted);
  if (drafting.draft.answered) return;
  if (!wanted) {
    counters_.backed_off_rounds += possible && timely ? 1 : 0;
    return;
  }
  drafting.draft.asked = true;
  drafting.draft.nodes_asked = drafting.nodes_max();
  drafting.draft.prefills = sequence.context.size() - drafting.drafter_holds >= kPrefillTokens;
  const Time patience = std::chrono::microseconds(drafting.tuning.deadline_us);
  const Time wait = waits_alone ? config_.sampled_wait : drafting.draft.prefills ? std::min(patience, kPrefillWait) : patience;
  drafting.draft.deadline = now + wait;
  drafting.asked_round = drafting.draft.prefills ? 0 : drafting.round;
  drafting.asked_at = now;
  advance(sequence, effects);
}

// Sends what the drafter does not hold yet, in chunks. The last chunk asks for the tree.
void Rounds::advance(VerifierSequence& sequence, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  const std::span all(sequence.context.tokens());
  auto held = static_cast<size_t>(drafting.drafter_holds);
  PrefixHash& hash = drafting.drafter_prefix;
  do {
    const auto chunk = all.subspan(held, std::min<size_t>(all.size() - held, kAdvanceTokensMax));
    Advance message{.fence = {.sequence = sequence.identity.id,
                              .epoch = sequence.identity.epoch,
                              .round = drafting.round,
                              .base_length = static_cast<int32_t>(held),
                              .prefix_hash = hash.value()},
                    .tokens = {chunk.begin(), chunk.end()},
                    .draft = held + chunk.size() == all.size(),
                    .tuning = drafting.tuning,
                    .info = std::nullopt};
    message.tuning.threshold = std::min(message.tuning.threshold, drafting.threshold);
    message.tuning.nodes_max = static_cast<uint16_t>(drafting.draft.nodes_asked);
    message.tuning.depth_max = static_cast<uint16_t>(std::clamp(depth_left(sequence), 0, int{message.tuning.depth_max}));
    if (held == 0) message.info = drafter_part(sequence.spec);
    effects.push_back(To<Advance>{drafting.drafter, std::move(message)});
    hash.add(chunk);
    held += chunk.size();
  } while (held < all.size());
  drafting.drafter_holds = static_cast<int32_t>(held);
}

// A tree is no deeper than what can still be emitted, or than the model's context.
int Rounds::depth_left(const VerifierSequence& sequence) const {
  return std::min(sequence.spec.output_max - sequence.context.output() - 1, config_.context_max - 1 - sequence.context.root());
}

void Rounds::end(VerifierSequence& sequence, const TokenTree& verified, std::span<const int32_t> path) {
  SequenceDrafting& drafting = sequence.drafting;
  const DraftRound& draft = drafting.draft;
  const bool late = draft.asked && (!draft.answered || draft.late);
  const bool given_up = sequence.timing().waits_alone && draft.asked && !draft.answered;
  counters_.sampled_given_up += given_up ? 1 : 0;
  if (resident_.drafts_for(sequence)) ++drafting.resident_unverified;
  const Own own = is_sampled(sequence.spec.acceptance.rule)
                      ? Own{.verified = verified.size(), .accepted = static_cast<int>(path.size())}
                      : learn(sequence, verified, path);
  if (!draft.asked || (late && draft.prefills)) return drafting.backoff.plain_step();
  ++(late ? counters_.missed_deadlines : counters_.met_deadlines);
  const bool failed = drafting.backoff.drafted_step(own.verified, own.accepted, late || draft.busy, drafting.price);
  if (!late) drafting.tree_gain += (own.accepted - drafting.tree_gain) * kTreeGainWeight;
  // Before its first tree a drafter may still prefill: that says nothing about its worth.
  if (DrafterLink* link = links_.find(drafting.drafter); link != nullptr && drafting.heard) {
    const double won = own.accepted - static_cast<double>(drafting.price) * own.verified;
    link->tried = std::min(link->tried + 1, kTriedMost);
    link->tree_gain += (won - link->tree_gain) / link->tried;
  }
  if (own.accepted > 0) drafting.patience = kPatienceFirst;
  // In time and wrong is as bad as late; in time and empty is neither good nor bad.
  if (failed) {
    drafting.useless += draft.busy ? 2 : 1;
  } else if (own.accepted > 0 || own.verified == 0) {
    drafting.useless = 0;
  }
  if (drafting.useless >= drafting.patience) pass_on(sequence);
}

bool Rounds::waits(const VerifierSequence& sequence, Time now) const {
  const DraftRound& draft = sequence.drafting.draft;
  if (!draft.asked || draft.answered || now >= draft.deadline) return false;
  const DrafterLink* link = links_.find(sequence.drafting.drafter);
  return !sequence.timing().waits_alone || (link != nullptr && link->attached);
}

Time Rounds::expected_in(const VerifierSequence& sequence, Time now) const {
  const DrafterLink* link = links_.find(sequence.drafting.drafter);
  return link == nullptr ? Time{} : std::max(link->answers_in - (now - sequence.drafting.round_began), Time{});
}

void Rounds::tree(From<Tree> event, VerifierSequence* sequence, Time now, Effects& effects) {
  Tree& message = event.message;
  const size_t nodes = message.nodes.size();
  DrafterLink* link = links_.find(event.peer);
  if (sequence == nullptr || link == nullptr || !link->attached || sequence->drafting.drafter != event.peer) {
    counters_.fates.arrive(nodes);
    counters_.fates.settle(nodes, Fate::stale);
    return;
  }
  if (message.no_nodes == NoNodes::leaving) link->attached = false;
  SequenceDrafting& drafting = sequence->drafting;
  drafting.heard = true;
  if (drafting.asked_round != 0 && message.fence.round == drafting.asked_round) {
    links_.answered(event.peer, now - drafting.asked_at);
  }
  sequence->fates.arrive(nodes);
  const Arrival arrival = classify(message.fence, *sequence);
  if (arrival == Arrival::late) return sequence->fates.settle(nodes, Fate::late);
  if (arrival == Arrival::stale) return sequence->fates.settle(nodes, Fate::stale);
  if (arrival == Arrival::fresh) {
    drafting.draft.busy = message.no_nodes == NoNodes::busy;
    drafting.draft.late = !drafting.draft.prefills && now > drafting.round_began + Time(drafting.tuning.deadline_us);
  }
  Result<DraftTree> tree = tree_of(message, sequence->spec.acceptance, config_.fingerprint.vocabulary);
  if (!tree) {
    if (sequence->timing().waits_alone) drafting.draft.answered = true;  // the round goes on plainly
    sequence->fates.settle(nodes, Fate::invalid);
    return links_.strike(event.peer, now, effects);
  }
  if (arrival == Arrival::ahead) return park(*sequence, std::move(message));
  drafting.draft.answered = true;
  if (sequence->timing().keeps_budget) {
    drafting.draft.tree = *std::move(tree);
    return;
  }
  tree->trim(drafting.draft.nodes_asked);
  sequence->fates.settle(nodes - static_cast<size_t>(tree->size()), Fate::trimmed);
  merge_in(*sequence, {.tree = tree->tokens()});
}

void Rounds::park(VerifierSequence& sequence, Tree message) {
  std::optional<Tree>& parked = sequence.drafting.parked;
  if (parked) sequence.fates.settle(parked->nodes.size(), Fate::stale);
  ++counters_.parked;
  parked = std::move(message);
}

// A tree that was ahead becomes this round's if the commit reached exactly its base and a draft is
// wanted. A tree whose base the sequence has passed is stale.
void Rounds::unpark(VerifierSequence& sequence, bool wanted) {
  SequenceDrafting& drafting = sequence.drafting;
  if (!drafting.parked || drafting.parked->fence.base_length > sequence.context.size()) return;
  const Tree parked = *std::exchange(drafting.parked, std::nullopt);
  const bool reached =
      parked.fence.base_length == sequence.context.size() && parked.fence.prefix_hash == sequence.context.hash().value();
  if (!wanted || !reached) return sequence.fates.settle(parked.nodes.size(), Fate::stale);
  ++counters_.parked_used;
  drafting.draft.asked = drafting.draft.answered = true;
  merge_in(sequence, {.tree = *TokenTree::make(parked.nodes, config_.fingerprint.vocabulary)});  // it was checked when it came
}

void Rounds::resync(Peer peer, const Resync& message, VerifierSequence* sequence, Effects& effects) {
  if (sequence == nullptr || sequence->drafting.drafter != peer || !sequence->running() || !sequence->drafting.draft.asked ||
      message.round != sequence->drafting.round || std::exchange(sequence->drafting.draft.resynced, true)) {
    ++counters_.fenced;
    return;
  }
  ++counters_.resyncs;
  const bool plausible = message.held > 0 && message.held < sequence->context.size();
  set_held(*sequence, plausible ? message.held : 0);
  advance(*sequence, effects);
}

void Rounds::reassign(VerifierSequence& sequence, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  drafting.drafter_stays = false;
  const DrafterLink* link = links_.find(drafting.drafter);
  if (link != nullptr && names(sequence, link->endpoint)) return;
  leave(sequence, effects);
  drafting.draft.answered = true;  // whom this round asked is not listened to any more
}

void Rounds::forget_drafter_state(VerifierSequence& sequence) { set_held(sequence, 0); }

namespace {

// Whether a sequence that `now` drafts for should go to `other`: it was not tried yet, and no other
// sequence tries it, or it is better.
bool worth_leaving(const DrafterLink& now, const DrafterLink& other, const VerifierSequence& sequence) {
  if (now.tried < kTrialAsks) return false;
  if (other.tried < kTrialAsks) return other.on_trial == 0 || other.on_trial == sequence.identity.number;
  return other.tree_gain > now.tree_gain + kBetterTokens + kBetterShare * std::max(now.tree_gain, 0.0);
}

}  // namespace

// The first of its drafters that is there, or one that proved better in all sequences. It stays
// until it goes, another is better, or the router or pass_on() says otherwise.
DrafterLink* Rounds::pick(VerifierSequence& sequence, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  DrafterLink* now = links_.find(drafting.drafter);
  DrafterLink* best = now != nullptr && now->attached && drafting.drafter_stays ? now : nullptr;
  for (const DrafterRef& ref : drafting.drafters) {
    DrafterLink* link = links_.find(ref);
    if (link == nullptr || !link->attached || link == best) continue;
    const bool passed_on = link->peer == drafting.passed_on && drafting.round < drafting.passed_on_until;
    if (best == nullptr || (!passed_on && worth_leaving(*best, *link, sequence))) best = link;
  }
  if (best == nullptr) return nullptr;
  drafting.drafter_stays = true;
  if (best == now) return now;
  leave(sequence, effects);
  drafting.drafter = best->peer;
  drafting.heard = false;
  if (best->tried < kTrialAsks && best->on_trial == 0) best->on_trial = sequence.identity.number;
  drafting.rate = {};
  drafting.tree_gain = std::max(best->tree_gain, kTreeGainLeast);
  const bool adds_nothing = resident_.drafts_for(sequence) && best->tried >= kTrialAsks && best->tree_gain < kTreeGainLeast;
  drafting.backoff = adds_nothing ? DraftBackoff::rare() : DraftBackoff();  // the last drafter's says nothing about this one
  drafting.useless = 0;
  set_held(sequence, 0);
  return best;
}

// Tells the sequence's drafter, if it has one, that it may forget the sequence.
void Rounds::leave(VerifierSequence& sequence, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  if (DrafterLink* link = links_.find(drafting.drafter)) {
    if (link->attached) effects.push_back(To<Release>{link->peer, {sequence.identity.id, sequence.identity.epoch}});
    if (link->on_trial == sequence.identity.number) link->on_trial = 0;
  }
  if (drafting.parked) sequence.fates.settle(drafting.parked->nodes.size(), Fate::stale);
  drafting.parked.reset();
  drafting.drafter = {};
}

// The sequence's drafter is of no use now: the next of its drafters that is there gets its chance,
// if there is one.
void Rounds::pass_on(VerifierSequence& sequence) {
  SequenceDrafting& drafting = sequence.drafting;
  DrafterLink* now = links_.find(drafting.drafter);
  if (now != nullptr) now->tried = std::max(now->tried, kTrialAsks);  // it showed what it is worth
  const auto is_now = [&](const DrafterRef& ref) { return now != nullptr && ref.endpoint == now->endpoint; };
  const auto another = [&](const DrafterRef& ref) {
    const DrafterLink* link = links_.find(ref);
    return link != nullptr && link != now && link->attached;
  };
  const auto useless = std::ranges::find_if(drafting.drafters, is_now);
  if (useless == drafting.drafters.end() || std::ranges::none_of(drafting.drafters, another)) return;
  std::rotate(useless, useless + 1, drafting.drafters.end());
  drafting.drafter_stays = false;
  drafting.passed_on = now->peer;
  drafting.passed_on_until = drafting.round + kPassedOnRounds;
  drafting.patience = std::min(2 * drafting.patience, kPatienceMost);
}

void Rounds::release(VerifierSequence& sequence, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  sequence.fates.settle(static_cast<size_t>(drafting.draft.tree.size()), Fate::stale);
  drafting.draft = {};
  resident_.end(sequence);
  leave(sequence, effects);
}

}  // namespace slipstream
