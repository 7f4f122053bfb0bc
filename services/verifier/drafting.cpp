#include "services/verifier/drafting.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/verifier/received_tree.h"

namespace slipstream {
namespace {

constexpr int kAnswerWeight = 4;  // the newest answer is one part in so many of the mean of their times

bool names(const VerifierSequence& sequence, const std::string& endpoint) {
  return std::ranges::find(sequence.drafters, endpoint, &DrafterRef::endpoint) != sequence.drafters.end();
}

void holds(VerifierSequence& sequence, int32_t tokens) {
  sequence.drafter_holds = tokens;
  sequence.drafter_prefix = {};
  sequence.drafter_prefix.add(std::span(sequence.context.tokens()).first(static_cast<size_t>(tokens)));
}

}  // namespace

DrafterLink* Drafting::find(Peer peer) {
  const auto link = std::ranges::find(links_, peer, &DrafterLink::peer);
  return link == links_.end() ? nullptr : &*link;
}

DrafterLink* Drafting::find(const DrafterRef& ref) {
  const auto link = std::ranges::find(links_, ref.endpoint, &DrafterLink::endpoint);
  return link == links_.end() ? nullptr : &*link;
}

bool Drafting::owns(Peer peer) const { return find(peer) != nullptr; }

void Drafting::introduce(const VerifierSequence& sequence, const Sequences& sequences, Effects& effects) {
  std::erase_if(links_, [&](const DrafterLink& link) {
    const bool named = names(sequence, link.endpoint) ||
                       std::ranges::any_of(sequences, [&](const auto& other) { return names(*other, link.endpoint); });
    if (link.attached || link.quarantined || named) return false;
    effects.push_back(Disconnect{link.peer});
    return true;
  });
  for (const DrafterRef& ref : sequence.drafters) {
    const bool known = std::ranges::find(links_, ref.endpoint, &DrafterLink::endpoint) != links_.end();
    if (known || links_.size() >= static_cast<size_t>(kDrafterLinksMax)) continue;
    links_.push_back({.peer = Peer{next_peer_++}, .endpoint = ref.endpoint});
    effects.push_back(Connect{links_.back().peer, ref.endpoint});
  }
}

void Drafting::up(Peer peer, Time now, Effects& effects) {
  DrafterLink* link = find(peer);
  if (link == nullptr) return;
  link->up = true;
  link->asks.reset();
  ask(*link, now, effects);
}

void Drafting::ask(DrafterLink& link, Time now, Effects& effects) {
  link.asked = true;
  link.ask_at = now + link.asks.next();
  effects.push_back(To<Attach>{link.peer, {.verifier = config_.process.incarnation, .fingerprint = config_.fingerprint}});
}

void Drafting::keep(Time now, Effects& effects) {
  for (DrafterLink& link : links_) {
    if (!link.up || !link.asked || now < link.ask_at) continue;
    ++counters_.attaches_repeated;
    ask(link, now, effects);
  }
}

std::optional<Time> Drafting::next() const {
  std::optional<Time> next;
  for (const DrafterLink& link : links_) {
    if (link.up && link.asked) next = std::min(next.value_or(link.ask_at), link.ask_at);
  }
  return next;
}

size_t Drafting::unanswered() const {
  return static_cast<size_t>(std::ranges::count_if(links_, [](const DrafterLink& link) { return link.up && link.asked; }));
}

void Drafting::down(Peer peer, Effects& effects) {
  DrafterLink* link = find(peer);
  if (link == nullptr) return;
  link->up = link->asked = false;
  if (!std::exchange(link->attached, false)) return;
  effects.push_back(Note{fmt::format("lost the drafter at {}", link->endpoint)});
}

void Drafting::attached(const From<Attached>& event, Sequences& sequences, Time now, Effects& effects) {
  const Attached& message = event.message;
  DrafterLink* link = find(event.peer);
  if (link == nullptr || link->quarantined || !link->up) return;
  if (message.attach_first) {  // it does not know us (any more): what we believed was a former life's word
    if (std::exchange(link->attached, false)) ask(*link, now, effects);
    return;
  }
  // Not asked: the same again; or the word of the life before, and this is the one that is there
  // now.
  if (!std::exchange(link->asked, false) && message.drafter == link->incarnation) return;
  link->asks.reset();
  const bool alike = VersionRange{}.includes(message.version) && message.fingerprint.same_tokens(config_.fingerprint);
  const bool fits = alike && message.refusal.empty();
  link->attached = fits;
  const auto why =
      message.refusal.empty() ? "other tokens or version: start both from the same model folder and release" : message.refusal;
  if (fits) {
    effects.push_back(Note{fmt::format("drafter {:016x} ({}) at {} drafts", message.drafter, message.method, link->endpoint)});
  } else {  // one that is alike and refuses will not stay
    effects.push_back(
        Note{fmt::format("drafter {:016x} at {} does not draft for this verifier: {}", message.drafter, link->endpoint, why),
             !alike});
  }
  if (!fits || std::exchange(link->incarnation, message.drafter) == message.drafter) return;
  for (const auto& sequence : sequences) {  // another life: it knows nothing of us
    if (sequence->drafter == event.peer) holds(*sequence, 0);
  }
}

void Drafting::strike(Peer peer, Effects& effects) {
  DrafterLink* link = find(peer);
  if (link == nullptr || link->quarantined || ++link->strikes < kStrikesMax) return;
  link->quarantined = true;
  link->attached = false;
  link->asked = false;
  ++counters_.quarantined;
  effects.push_back(Note{
      fmt::format("cut off the drafter at {} after {} malformed messages or impossible trees", link->endpoint, kStrikesMax),
      true});
  effects.push_back(Disconnect{peer});
}

void Drafting::reassign(VerifierSequence& sequence, const Sequences& sequences, Effects& effects) {
  sequence.drafter_stays = false;
  introduce(sequence, sequences, effects);
  const DrafterLink* link = find(sequence.drafter);
  if (link != nullptr && names(sequence, link->endpoint)) return;
  leave(sequence, effects);
  sequence.draft.answered = true;  // whom this round asked is not listened to any more
}

// The first of its drafters that is there; it stays until it goes, or the router or pass_on() says
// otherwise.
DrafterLink* Drafting::pick(VerifierSequence& sequence, Effects& effects) {
  DrafterLink* now = find(sequence.drafter);
  if (now != nullptr && now->attached && sequence.drafter_stays) return now;
  for (const DrafterRef& ref : sequence.drafters) {
    DrafterLink* link = find(ref);
    if (link == nullptr || !link->attached) continue;
    sequence.drafter_stays = true;
    if (link == now) return now;
    leave(sequence, effects);
    sequence.drafter = link->peer;
    sequence.rate = {};
    sequence.backoff = {};  // what the one before was worth says nothing about this one
    sequence.useless = 0;
    holds(sequence, 0);
    return link;
  }
  return nullptr;
}

// Its drafter, if it has one, may forget it.
void Drafting::leave(VerifierSequence& sequence, Effects& effects) {
  if (const DrafterLink* link = find(sequence.drafter); link != nullptr && link->attached) {
    effects.push_back(To<Release>{sequence.drafter, {sequence.id, sequence.epoch}});
  }
  sequence.drafter = {};
}

// Its drafter is of no use now: the next of those that are there gets its chance, if there is one.
void Drafting::pass_on(VerifierSequence& sequence) {
  const DrafterLink* now = find(sequence.drafter);
  const auto is_now = [&](const DrafterRef& ref) { return now != nullptr && ref.endpoint == now->endpoint; };
  const auto another = [&](const DrafterRef& ref) {
    const DrafterLink* link = find(ref);
    return link != nullptr && link != now && link->attached;
  };
  const auto useless = std::ranges::find_if(sequence.drafters, is_now);
  if (useless == sequence.drafters.end() || std::ranges::none_of(sequence.drafters, another)) return;
  std::rotate(useless, useless + 1, sequence.drafters.end());
  sequence.drafter_stays = false;
  sequence.patience = std::min(2 * sequence.patience, kPatienceMost);
}

void Drafting::begin_round(VerifierSequence& sequence, Time now, Effects& effects) {
  ++sequence.round;
  sequence.draft = {};
  sequence.round_began = now;
  const bool worth = sequence.tuning.nodes_max > 0 && sequence.spec.output_max - sequence.output() > 1;
  const bool possible = worth && pick(sequence, effects) != nullptr;
  // A tree that is waited for alone is asked for only once the step that uses it could be the next.
  const bool timely = !sequence.timing().waits_alone || sequence.prompt_rows_left() == 0;
  const bool wanted = possible && timely && sequence.backoff.wants_draft();
  unpark(sequence, wanted);
  if (sequence.draft.answered) return;
  if (!wanted) {
    counters_.backed_off_rounds += possible && timely ? 1 : 0;
    return;
  }
  sequence.draft.asked = true;
  sequence.draft.learns = sequence.context.size() - sequence.drafter_holds >= kPrefillTokens;
  const Time patience = std::chrono::microseconds(sequence.tuning.deadline_us);
  sequence.draft.deadline = now + (sequence.timing().waits_alone ? config_.sampled_wait
                                   : sequence.draft.learns       ? std::min(patience, kPrefillWait)
                                                                 : patience);
  sequence.asked_round = sequence.draft.learns ? 0 : sequence.round;
  sequence.asked_at = now;
  advance(sequence, effects);
}

// Sends what the drafter does not hold yet, in chunks; the last one asks for the tree.
void Drafting::advance(VerifierSequence& sequence, Effects& effects) {
  const std::span all(sequence.context.tokens());
  auto held = static_cast<size_t>(sequence.drafter_holds);
  PrefixHash& hash = sequence.drafter_prefix;
  // No deeper than what can be emitted, or than the model's context.
  const int depth = std::min(sequence.spec.output_max - sequence.output() - 1, config_.context_max - 1 - sequence.root());
  do {
    const auto chunk = all.subspan(held, std::min<size_t>(all.size() - held, kAdvanceTokensMax));
    Advance message{.fence = {.sequence = sequence.id,
                              .epoch = sequence.epoch,
                              .round = sequence.round,
                              .base_length = static_cast<int32_t>(held),
                              .prefix_hash = hash.value()},
                    .tokens = {chunk.begin(), chunk.end()},
                    .draft = held + chunk.size() == all.size(),
                    .tuning = sequence.tuning,
                    .info = std::nullopt};
    message.tuning.nodes_max = static_cast<uint16_t>(sequence.nodes_max());
    message.tuning.depth_max = static_cast<uint16_t>(std::clamp(depth, 0, int{message.tuning.depth_max}));
    if (held == 0) message.info = drafter_part(sequence.spec);
    effects.push_back(To<Advance>{sequence.drafter, std::move(message)});
    hash.add(chunk);
    held += chunk.size();
  } while (held < all.size());
  sequence.drafter_holds = static_cast<int32_t>(held);
}

bool Drafting::waits(const VerifierSequence& sequence, Time now) const {
  const DraftRound& draft = sequence.draft;
  if (!draft.asked || draft.answered || now >= draft.deadline) return false;
  const DrafterLink* link = find(sequence.drafter);
  return !sequence.timing().waits_alone || (link != nullptr && link->attached);
}

void Drafting::settled(VerifierSequence& sequence, int verified_nodes, int accepted_nodes) {
  const bool late = sequence.draft.asked && (!sequence.draft.answered || sequence.draft.late);
  counters_.sampled_given_up += sequence.timing().waits_alone && sequence.draft.asked && !sequence.draft.answered ? 1 : 0;
  if (!sequence.draft.asked || (late && sequence.draft.learns)) return sequence.backoff.plain_step();
  ++(late ? counters_.missed_deadlines : counters_.met_deadlines);
  sequence.backoff.drafted_step(verified_nodes, accepted_nodes, late || sequence.draft.busy);
  if (accepted_nodes > 0) sequence.patience = kPatienceFirst;
  const int more = late ? 1 : sequence.draft.busy ? 2 : -sequence.useless;
  sequence.useless += more;
  if (sequence.useless >= sequence.patience) pass_on(sequence);
}

void Drafting::drop(VerifierSequence& sequence, size_t nodes, uint32_t SpeculationReport::* fate,
                    uint64_t VerifierCounters::* total) {
  sequence.report.*fate += static_cast<uint32_t>(nodes);
  counters_.*total += nodes;
}

void Drafting::tree(From<Tree> event, VerifierSequence* sequence, Time now, Effects& effects) {
  const Peer peer = event.peer;
  Tree& message = event.message;
  const size_t nodes = message.nodes.size();
  counters_.received += nodes;
  DrafterLink* link = find(peer);
  if (sequence == nullptr || link == nullptr || !link->attached || sequence->drafter != peer) {
    counters_.stale += nodes;
    return;
  }
  if (message.no_nodes == NoNodes::leaving) link->attached = false;
  measure(message, *sequence, now);
  sequence->report.received += static_cast<uint32_t>(nodes);
  const auto stale = [&] { drop(*sequence, nodes, &SpeculationReport::stale, &VerifierCounters::stale); };
  const auto late = [&] { drop(*sequence, nodes, &SpeculationReport::late, &VerifierCounters::late); };
  const Fence& fence = message.fence;
  const int32_t length = sequence->context.size();
  if (!sequence->running()) return late();
  const bool ahead = fence.base_length > length;
  if (ahead && sequence->timing().waits_alone) return stale();  // nobody asked for it
  if (!ahead) {
    if (fence.round < sequence->round) return late();
    if (fence.round != sequence->round || fence.base_length != length ||
        fence.prefix_hash != sequence->context.hash().value() || !sequence->draft.asked || sequence->draft.answered) {
      return stale();
    }
    if (sequence->root_in_step) return late();
    sequence->draft.busy = message.no_nodes == NoNodes::busy;
    sequence->draft.late = !sequence->draft.learns && now > sequence->round_began + Time(sequence->tuning.deadline_us);
  }
  Result<DraftTree> tree = tree_of(message, sequence->spec.acceptance, config_.fingerprint.vocabulary);
  if (!tree) {
    if (sequence->timing().waits_alone) sequence->draft.answered = true;  // and go on plainly
    drop(*sequence, nodes, &SpeculationReport::invalid, &VerifierCounters::invalid);
    strike(peer, effects);
    return;
  }
  sequence->report.held += static_cast<uint32_t>(nodes);
  if (ahead) {
    if (sequence->parked) {
      const size_t replaced = sequence->parked->nodes.size();
      sequence->report.held -= static_cast<uint32_t>(replaced);
      drop(*sequence, replaced, &SpeculationReport::stale, &VerifierCounters::stale);
    }
    ++counters_.parked;
    sequence->parked = std::move(message);
    return;
  }
  sequence->draft.tree = *std::move(tree);
  sequence->draft.answered = true;
}

void Drafting::measure(const Tree& message, const VerifierSequence& sequence, Time now) {
  DrafterLink* link = find(sequence.drafter);
  if (link == nullptr || sequence.asked_round == 0 || message.fence.round != sequence.asked_round) return;
  const Time took = now - sequence.asked_at;
  link->answers_in = link->answers_in == Time{} ? took : link->answers_in + (took - link->answers_in) / kAnswerWeight;
}

Time Drafting::expected(const VerifierSequence& sequence, Time now) const {
  const DrafterLink* link = find(sequence.drafter);
  return link == nullptr ? Time{} : std::max(link->answers_in - (now - sequence.round_began), Time{});
}

// A tree that was ahead of us becomes this round's if the commit reached exactly its base and the
// guard wants a draft; one that we passed is stale.
void Drafting::unpark(VerifierSequence& sequence, bool wanted) {
  if (!sequence.parked || sequence.parked->fence.base_length > sequence.context.size()) return;
  const Tree parked = *std::exchange(sequence.parked, std::nullopt);
  if (wanted && parked.fence.base_length == sequence.context.size() &&
      parked.fence.prefix_hash == sequence.context.hash().value()) {
    ++counters_.parked_used;
    sequence.draft.asked = sequence.draft.answered = true;
    sequence.draft.tree = DraftTree(*TokenTree::make(parked.nodes, config_.fingerprint.vocabulary));  // was valid when it came
    return;
  }
  sequence.report.held -= static_cast<uint32_t>(parked.nodes.size());
  drop(sequence, parked.nodes.size(), &SpeculationReport::stale, &VerifierCounters::stale);
}

void Drafting::resync(Peer peer, const Resync& message, VerifierSequence* sequence, Effects& effects) {
  if (sequence == nullptr || sequence->drafter != peer || !sequence->running() || !sequence->draft.asked ||
      message.round != sequence->round || std::exchange(sequence->draft.resynced, true)) {
    ++counters_.fenced;
    return;
  }
  ++counters_.resyncs;
  const bool plausible = message.held > 0 && message.held < sequence->context.size();
  holds(*sequence, plausible ? message.held : 0);
  advance(*sequence, effects);
}

void Drafting::release(VerifierSequence& sequence, Effects& effects) {
  size_t nodes = static_cast<size_t>(sequence.draft.tree.size());
  if (sequence.parked) nodes += sequence.parked->nodes.size();
  sequence.report.held -= static_cast<uint32_t>(nodes);
  drop(sequence, nodes, &SpeculationReport::stale, &VerifierCounters::stale);
  sequence.draft = {};
  sequence.parked.reset();
  leave(sequence, effects);
}

}  // namespace slipstream
