// Which drafters a sequence has, and which of them leads.
#include <algorithm>
#include <utility>

#include "services/verifier/rounds.h"

namespace slipstream {
namespace {

// Whether a sequence should leave its lead `now` for `other`: either that one's worth is unknown,
// and no other sequence tries it, or it is better, and nobody chose it just now.
bool worth_leaving(const DrafterLink& now, const DrafterLink& other, const VerifierSequence& sequence, double row_price,
                   Time time) {
  const Rule rule = sequence.spec.acceptance.rule;
  if (is_sampled(rule)) return false;  // worth is learnt of greedy and coupled requests only
  const DrafterWorth& has = now.worth.of(rule);
  const DrafterWorth& gets = other.worth.of(rule);
  if (!has.known(time)) return false;
  if (!gets.known(time)) return other.on_trial == 0 || other.on_trial == sequence.identity.number;
  const bool just_chosen = other.chosen_at && time < *other.chosen_at + kBetweenChoices;
  const double gain = has.gain(row_price);
  return !just_chosen && gets.gain(row_price) > gain + kBetterTokens + kBetterShare * std::max(gain, 0.0);
}

double first_gain(const DrafterWorth& worth, double row_price, Time now) {
  return std::max(worth.expected(row_price, now), kTreeGainLeast);
}

// Of a drafter that adds nothing the gap between two asks goes on from sequence to sequence, so
// that short answers ask it, too.
DraftBackoff first_backoff(DrafterLink& link, const DrafterWorth& worth, double row_price, int first_nodes, Time now) {
  if (!worth.brings_little(row_price, now)) return DraftBackoff(first_nodes);
  const DraftBackoff rare = DraftBackoff::rare(link.steps_unasked);
  if (rare.rest() == DraftRest::none) link.steps_unasked = 0;  // this one asks; who begins beside it does not
  return rare;
}

}  // namespace

void Rounds::pick(VerifierSequence& sequence, Time now, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  DrafterLink* lead = pick_lead(sequence, now);
  if (lead == nullptr) return;
  const bool another = drafting.lead() == nullptr || drafting.lead()->peer != lead->peer;
  leave_if(sequence, effects, [&](const SequenceDrafter& drafter) {
    const DrafterLink* its = links_.find(drafter.peer);
    return its == nullptr || !its->attached;
  });
  drafting.lead_stays = true;
  if (another) lead_with(sequence, *lead, now, effects);
  if (!is_sampled(sequence.spec.acceptance.rule)) add_others(sequence, now);
  tune(drafting);
}

// The first of its drafters that is there, or one that proved better in all sequences. It stays
// until it goes, another is better, or the router or pass_on() says otherwise. Null: none is there.
DrafterLink* Rounds::pick_lead(const VerifierSequence& sequence, Time now) {
  const SequenceDrafting& drafting = sequence.drafting;
  DrafterLink* has = drafting.lead() == nullptr ? nullptr : links_.find(drafting.lead()->peer);
  DrafterLink* best = has != nullptr && has->attached && drafting.lead_stays ? has : nullptr;
  for (const std::string& endpoint : drafting.order) {
    DrafterLink* link = links_.find(endpoint);
    if (link == nullptr || !link->attached || link == best) continue;
    const bool passed_on = link->peer == drafting.passed_on && drafting.round < drafting.passed_on_until;
    if (best == nullptr || (!passed_on && worth_leaving(*best, *link, sequence, row_price_, now))) best = link;
  }
  return best;
}

// The lead before stays beside this one, if it is there and of another kind.
void Rounds::lead_with(VerifierSequence& sequence, DrafterLink& link, Time now, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  const Rule rule = sequence.spec.acceptance.rule;
  const DrafterWorth& worth = link.worth.of(rule);
  if (drafting.find(link.peer) == nullptr) drafting.drafters.push_back({.peer = link.peer});
  const auto at = std::ranges::find(drafting.drafters, link.peer, &SequenceDrafter::peer);
  std::rotate(drafting.drafters.begin(), at, at + 1);
  // What it added to others, if it was beside them, says nothing about what it does as the lead.
  drafting.lead()->tree_won = {.accepted = first_gain(worth, row_price_, now)};
  drafting.lead()->backoff = first_backoff(link, worth, row_price_, kFirstNodes, now);
  if (worth.known(now)) {
    if (drafting.drafters.size() > 1) link.chosen_at = now;
  } else if (link.on_trial == 0) {
    link.on_trial = sequence.identity.number;
  }
  drafting.rate = {};  // the last lead's says nothing about this one
  drafting.useless = 0;
  leave_if(sequence, effects, [&](const SequenceDrafter& other) {
    DrafterLink* its = links_.find(other.peer);
    if (other.peer == link.peer) return false;
    if (its->on_trial == sequence.identity.number) its->on_trial = 0;
    return its->kind == link.kind || is_sampled(rule);
  });
  if (drafting.drafters.size() > kDraftersAtOnceMax) leave(sequence, drafting.drafters.back().peer, effects);
}

// One drafter of each kind that the sequence does not have yet, in the router's order.
void Rounds::add_others(VerifierSequence& sequence, Time now) {
  SequenceDrafting& drafting = sequence.drafting;
  for (const std::string& endpoint : drafting.order) {
    if (drafting.drafters.size() >= kDraftersAtOnceMax) return;
    DrafterLink* link = links_.find(endpoint);
    if (link == nullptr || !link->attached) continue;
    const bool has_kind = std::ranges::any_of(drafting.drafters, [&](const SequenceDrafter& drafter) {
      const DrafterLink* its = links_.find(drafter.peer);
      return its != nullptr && its->kind == link->kind;
    });
    if (has_kind) continue;
    // What it adds to the others' guesses is likely little: it begins with single nodes.
    const DrafterWorth& added = link->added.of(sequence.spec.acceptance.rule);
    SequenceDrafter& other = drafting.drafters.emplace_back(SequenceDrafter{.peer = link->peer});
    other.tree_won = {.accepted = first_gain(added, row_price_, now)};
    other.backoff = first_backoff(*link, added, row_price_, 1, now);
  }
}

// Each drafter of the sequence drafts this round by what the router said of it last.
void Rounds::tune(SequenceDrafting& drafting) const {
  for (const DrafterRef& ref : drafting.named) {
    const DrafterLink* link = links_.find(ref.endpoint);
    SequenceDrafter* drafter = link == nullptr ? nullptr : drafting.find(link->peer);
    if (drafter != nullptr) drafter->tuning = ref.tuning;
  }
}

// Tells a drafter of the sequence that it may forget it.
void Rounds::leave(VerifierSequence& sequence, Peer peer, Effects& effects) {
  SequenceDrafting& drafting = sequence.drafting;
  if (DrafterLink* link = links_.find(peer)) {
    if (link->attached) effects.push_back(To<Release>{peer, {sequence.identity.id, sequence.identity.epoch}});
    if (link->on_trial == sequence.identity.number) link->on_trial = 0;
    if (link->tried_for == sequence.identity.number) {
      link->tried_for = 0;
      link->tried_steps = 0;
    }
  }
  const SequenceDrafter* drafter = drafting.find(peer);
  if (drafter->parked) settle(sequence, *drafter->parked, Fate::stale);
  std::erase_if(drafting.drafters, [&](const SequenceDrafter& other) { return other.peer == peer; });
}

template <class Leaves>
void Rounds::leave_if(VerifierSequence& sequence, Effects& effects, const Leaves& leaves) {
  std::vector<Peer> leaving;
  for (const SequenceDrafter& drafter : sequence.drafting.drafters) {
    if (leaves(drafter)) leaving.push_back(drafter.peer);
  }
  for (const Peer peer : leaving) leave(sequence, peer, effects);
}

void Rounds::reassign(VerifierSequence& sequence, Effects& effects) {
  sequence.drafting.lead_stays = false;
  leave_if(sequence, effects, [&](const SequenceDrafter& drafter) {
    const DrafterLink* link = links_.find(drafter.peer);
    return link == nullptr || !names(sequence, link->endpoint);
  });
}

// The sequence's lead is of no use now: the next of its drafters that is there gets its chance, if
// there is one.
void Rounds::pass_on(VerifierSequence& sequence, Time now) {
  SequenceDrafting& drafting = sequence.drafting;
  DrafterLink* lead = drafting.lead() == nullptr ? nullptr : links_.find(drafting.lead()->peer);
  if (lead == nullptr) return;
  const Rule rule = sequence.spec.acceptance.rule;
  if (!is_sampled(rule)) lead->worth.of(rule).given_up(now);  // it showed what it is worth
  const auto another = [&](const std::string& endpoint) {
    const DrafterLink* link = links_.find(endpoint);
    return link != nullptr && link != lead && link->attached;
  };
  const auto useless = std::ranges::find(drafting.order, lead->endpoint);
  if (useless == drafting.order.end() || std::ranges::none_of(drafting.order, another)) return;
  std::rotate(useless, useless + 1, drafting.order.end());
  drafting.lead_stays = false;
  drafting.passed_on = lead->peer;
  drafting.passed_on_until = drafting.round + kPassedOnRounds;
  drafting.patience = std::min(2 * drafting.patience, kPatienceMost);
}

}  // namespace slipstream
