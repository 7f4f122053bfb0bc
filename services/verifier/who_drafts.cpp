// Which drafters a sequence has, and which of them leads.
#include <algorithm>
#include <utility>

#include "services/verifier/rounds.h"

namespace slipstream {
namespace {

// Whether a sequence should leave its lead `now` for `other`: either that one's worth is unknown,
// and no other sequence tries it, or it is better, and nobody chose it just now.
bool worth_leaving(const DrafterLink& now, const DrafterLink& other, const VerifierSequence& sequence, Time time) {
  const Rule rule = sequence.spec.acceptance.rule;
  const DrafterWorth& has = now.worth.of(rule);
  const DrafterWorth& gets = other.worth.of(rule);
  if (!has.known(time)) return false;
  if (!gets.known(time)) return other.on_trial == 0 || other.on_trial == sequence.identity.number;
  const bool just_chosen = other.chosen_at && time < *other.chosen_at + kBetweenChoices;
  return !just_chosen && gets.gain() > has.gain() + kBetterTokens + kBetterShare * std::max(has.gain(), 0.0);
}

// A drafter that holds nothing of the sequence yet. worth: of what it shall do for the sequence.
SequenceDrafter joins(const DrafterLink& link, const DrafterWorth& worth) {
  SequenceDrafter drafter{.peer = link.peer};
  drafter.tree_gain = std::max(worth.gain(), kTreeGainLeast);
  return drafter;
}

bool adds_nothing(const DrafterWorth& worth, Time now) { return worth.known(now) && worth.gain() < kTreeGainLeast; }

}  // namespace

void Rounds::pick(VerifierSequence& sequence, Time now, Effects& effects) {
  DrafterLink* lead = pick_lead(sequence, now);
  if (lead == nullptr) return;
  sequence.drafting.lead_stays = true;
  if (sequence.drafting.lead() == nullptr || sequence.drafting.lead()->peer != lead->peer) {
    lead_with(sequence, *lead, now, effects);
  }
  if (!is_sampled(sequence.spec.acceptance.rule)) add_others(sequence, now);
}

// The first of its drafters that is there, or one that proved better in all sequences. It stays
// until it goes, another is better, or the router or pass_on() says otherwise. Null: none is there.
DrafterLink* Rounds::pick_lead(const VerifierSequence& sequence, Time now) {
  const SequenceDrafting& drafting = sequence.drafting;
  DrafterLink* has = drafting.lead() == nullptr ? nullptr : links_.find(drafting.lead()->peer);
  DrafterLink* best = has != nullptr && has->attached && drafting.lead_stays ? has : nullptr;
  for (const DrafterRef& ref : drafting.order) {
    DrafterLink* link = links_.find(ref);
    if (link == nullptr || !link->attached || link == best) continue;
    const bool passed_on = link->peer == drafting.passed_on && drafting.round < drafting.passed_on_until;
    if (best == nullptr || (!passed_on && worth_leaving(*best, *link, sequence, now))) best = link;
  }
  return best;
}

// The lead before stays beside this one, if it is there and of another kind.
void Rounds::lead_with(VerifierSequence& sequence, DrafterLink& link, Time now, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  const Rule rule = sequence.spec.acceptance.rule;
  if (drafting.find(link.peer) == nullptr) {
    const DrafterWorth& worth = link.worth.of(rule);
    SequenceDrafter& lead = *drafting.drafters.insert(drafting.drafters.begin(), joins(link, worth));
    if (resident_.drafts_for(sequence) && adds_nothing(worth, now)) lead.backoff = DraftBackoff::rare();
  } else {
    const auto at = std::ranges::find(drafting.drafters, link.peer, &SequenceDrafter::peer);
    std::rotate(drafting.drafters.begin(), at, at + 1);
  }
  if (link.worth.of(rule).known(now)) {
    if (drafting.drafters.size() > 1) link.chosen_at = now;
  } else if (link.on_trial == 0) {
    link.on_trial = sequence.identity.number;
  }
  drafting.rate = {};  // the last lead's says nothing about this one
  drafting.useless = 0;
  std::vector<Peer> leaving;
  for (const SequenceDrafter& other : std::span(drafting.drafters).subspan(1)) {
    DrafterLink* its = links_.find(other.peer);
    if (its != nullptr && its->on_trial == sequence.identity.number) its->on_trial = 0;
    if (its == nullptr || !its->attached || its->kind == link.kind || is_sampled(rule)) leaving.push_back(other.peer);
  }
  if (drafting.drafters.size() > kDraftersAtOnceMax && leaving.empty()) leaving.push_back(drafting.drafters.back().peer);
  for (const Peer peer : leaving) leave(sequence, peer, effects);
}

// One drafter of each kind that the sequence does not have yet, in the router's order.
void Rounds::add_others(VerifierSequence& sequence, Time now) {
  SequenceDrafting& drafting = sequence.drafting;
  for (const DrafterRef& ref : drafting.order) {
    if (drafting.drafters.size() >= kDraftersAtOnceMax) return;
    const DrafterLink* link = links_.find(ref);
    if (link == nullptr || !link->attached) continue;
    const bool has_kind = std::ranges::any_of(drafting.drafters, [&](const SequenceDrafter& drafter) {
      const DrafterLink* its = links_.find(drafter.peer);
      return its != nullptr && its->kind == link->kind;
    });
    if (has_kind) continue;
    // What it adds to the others' guesses is likely little: it begins with single nodes.
    const DrafterWorth& added = link->added.of(sequence.spec.acceptance.rule);
    SequenceDrafter& other = drafting.drafters.emplace_back(joins(*link, added));
    other.backoff = adds_nothing(added, now) ? DraftBackoff::rare() : DraftBackoff(1);
  }
}

// Tells a drafter of the sequence that it may forget it.
void Rounds::leave(VerifierSequence& sequence, Peer peer, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  if (DrafterLink* link = links_.find(peer)) {
    if (link->attached) effects.push_back(To<Release>{peer, {sequence.identity.id, sequence.identity.epoch}});
    if (link->on_trial == sequence.identity.number) link->on_trial = 0;
  }
  const SequenceDrafter* drafter = drafting.find(peer);
  if (drafter->parked) sequence.fates.settle(drafter->parked->nodes.size(), Fate::stale);
  std::erase_if(drafting.drafters, [&](const SequenceDrafter& other) { return other.peer == peer; });
}

void Rounds::reassign(VerifierSequence& sequence, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  drafting.lead_stays = false;
  std::vector<Peer> leaving;
  for (const SequenceDrafter& drafter : drafting.drafters) {
    const DrafterLink* link = links_.find(drafter.peer);
    if (link == nullptr || !names(sequence, link->endpoint)) leaving.push_back(drafter.peer);
  }
  for (const Peer peer : leaving) leave(sequence, peer, effects);
}

// The sequence's lead is of no use now: the next of its drafters that is there gets its chance, if
// there is one.
void Rounds::pass_on(VerifierSequence& sequence, Time now) {
  SequenceDrafting& drafting = sequence.drafting;
  DrafterLink* lead = drafting.lead() == nullptr ? nullptr : links_.find(drafting.lead()->peer);
  if (lead == nullptr) return;
  lead->worth.of(sequence.spec.acceptance.rule).left(now);  // it showed what it is worth
  const auto another = [&](const DrafterRef& ref) {
    const DrafterLink* link = links_.find(ref);
    return link != nullptr && link != lead && link->attached;
  };
  const auto useless = std::ranges::find(drafting.order, lead->endpoint, &DrafterRef::endpoint);
  if (useless == drafting.order.end() || std::ranges::none_of(drafting.order, another)) return;
  std::rotate(useless, useless + 1, drafting.order.end());
  drafting.lead_stays = false;
  drafting.passed_on = lead->peer;
  drafting.passed_on_until = drafting.round + kPassedOnRounds;
  drafting.patience = std::min(2 * drafting.patience, kPatienceMost);
}

}  // namespace slipstream
