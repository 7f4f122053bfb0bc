#include "services/verifier/drafter_links.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/messages/shown_names.h"

namespace slipstream {
namespace {

constexpr int kAnswerWeight = 4;  // the newest answer is one part in this many of the mean

struct Refusal {
  std::string why = {};  // empty: the drafter may draft
  bool warns = true;
};

// A drafter that fits and refuses is about to leave: that is worth no warning.
Refusal refusal_of(const Attached& drafter, const Fingerprint& ours, bool sends_features) {
  if (!VersionRange{}.includes(drafter.version) || !drafter.fingerprint.same_tokens(ours)) {
    if (!drafter.refusal.empty()) return {drafter.refusal};
    return {"other tokens or version: start both from the same model folder and release"};
  }
  if (drafter.reads_features) {
    if (!drafter.refusal.empty()) return {drafter.refusal};  // of another head, most likely
    if (!sends_features) return {"it reads features, and this verifier sends none (--head-at drafters)"};
  }
  if (const Result<void> named = check_names(drafter); !named) return {named.error().message};
  return {drafter.refusal, false};
}

}  // namespace

bool names(const VerifierSequence& sequence, const std::string& endpoint) {
  return std::ranges::find(sequence.drafting.order, endpoint) != sequence.drafting.order.end();
}

DrafterLink* DrafterLinks::find(Peer peer) {
  const auto link = std::ranges::find(links_, peer, &DrafterLink::peer);
  return link == links_.end() ? nullptr : &*link;
}

const DrafterLink* DrafterLinks::find(Peer peer) const { return const_cast<DrafterLinks*>(this)->find(peer); }

DrafterLink* DrafterLinks::find(const std::string& endpoint) {
  const auto link = std::ranges::find(links_, endpoint, &DrafterLink::endpoint);
  return link == links_.end() ? nullptr : &*link;
}

void DrafterLinks::open(const VerifierSequence& sequence, const VerifierSequences& sequences, Time now, Effects& effects) {
  for (DrafterLink& link : links_) {
    const auto is_named = [&](const auto& other) { return names(*other, link.endpoint); };
    if (names(sequence, link.endpoint) || std::ranges::any_of(sequences, is_named)) link.named_at = now;
  }
  std::erase_if(links_, [&](const DrafterLink& link) {
    if (link.quarantined) return now - link.cut_at >= kQuarantine;
    if (link.attached || link.named_at == now) return false;
    effects.push_back(Disconnect{link.peer});
    return true;
  });
  for (const std::string& endpoint : sequence.drafting.order) {
    if (find(endpoint) != nullptr) continue;
    if (links_.size() >= static_cast<size_t>(kDrafterLinksMax) && !close_idle(now, effects)) {
      ++counters_.links_refused;
      continue;
    }
    links_.push_back({.peer = Peer{next_peer_++}, .endpoint = endpoint, .named_at = now});
    effects.push_back(Connect{links_.back().peer, endpoint});
  }
}

// Closes the link that no sequence has named for the longest time.
bool DrafterLinks::close_idle(Time now, Effects& effects) {
  const auto idle = std::ranges::min_element(links_, {}, &DrafterLink::named_at);
  if (idle == links_.end() || idle->named_at == now) return false;
  if (!idle->quarantined) effects.push_back(Disconnect{idle->peer});
  links_.erase(idle);
  return true;
}

void DrafterLinks::up(Peer peer, Time now, Effects& effects) {
  DrafterLink* link = find(peer);
  if (link == nullptr) return;
  link->up = true;
  link->asks.reset();
  ask(*link, now, effects);
}

void DrafterLinks::ask(DrafterLink& link, Time now, Effects& effects) {
  link.asked = true;
  link.ask_at = now + link.asks.next();
  effects.push_back(To<Attach>{
      link.peer, {.verifier = config_.process.incarnation, .fingerprint = config_.fingerprint, .head = config_.features.head}});
}

void DrafterLinks::keep(Time now, Effects& effects) {
  for (DrafterLink& link : links_) {
    if (!link.up || !link.asked || now < link.ask_at) continue;
    ++counters_.attaches_repeated;
    ask(link, now, effects);
  }
}

std::optional<Time> DrafterLinks::next() const {
  std::optional<Time> next;
  for (const DrafterLink& link : links_) {
    if (link.up && link.asked) next = std::min(next.value_or(link.ask_at), link.ask_at);
  }
  return next;
}

size_t DrafterLinks::unanswered() const {
  return static_cast<size_t>(std::ranges::count_if(links_, [](const DrafterLink& link) { return link.up && link.asked; }));
}

void DrafterLinks::down(Peer peer, Effects& effects) {
  DrafterLink* link = find(peer);
  if (link == nullptr) return;
  link->up = link->asked = false;
  if (!std::exchange(link->attached, false)) return;
  effects.push_back(Note{fmt::format("lost the drafter at {}", link->endpoint)});
}

bool DrafterLinks::attached(const From<Attached>& event, Time now, Effects& effects) {
  const Attached& message = event.message;
  DrafterLink* link = find(event.peer);
  if (link == nullptr || link->quarantined || !link->up) return false;
  if (message.attach_first) {  // the drafter does not know us (any more): what we believed of it is out of date
    if (std::exchange(link->attached, false)) ask(*link, now, effects);
    return false;
  }
  // An answer that nobody asked for repeats the last one, unless another life of the drafter gives
  // it.
  if (!std::exchange(link->asked, false) && message.drafter == link->incarnation) return false;
  link->asks.reset();
  const Refusal refusal = refusal_of(message, config_.fingerprint, config_.features.head != 0);
  link->attached = refusal.why.empty();
  if (!link->attached) {
    const bool told = std::ranges::find(refused_, message.drafter) != refused_.end();
    if (refusal.warns && !told) refused_.push_back(message.drafter);
    if (refused_.size() > kDrafterLinksMax) refused_.pop_front();
    effects.push_back(Note{.text = fmt::format("drafter {:016x} at {} does not draft for this verifier: {}", message.drafter,
                                               link->endpoint, refusal.why),
                           .warning = refusal.warns && !told,
                           .detail = told});
    return false;
  }
  link->kind = {.method = message.method, .model = message.model};
  link->reads_features = message.reads_features;
  effects.push_back(Note{fmt::format("drafter {:016x} ({}) at {} drafts", message.drafter, message.method, link->endpoint)});
  if (std::exchange(link->incarnation, message.drafter) == message.drafter) return false;
  // What its former life was worth says nothing about this one.
  link->answers_in = {};
  link->worth = link->added = {};
  link->calibrations = {};
  link->probes = {};
  link->sampled_probes = {};
  return true;
}

void DrafterLinks::strike(Peer peer, Time now, Effects& effects) {
  DrafterLink* link = find(peer);
  if (link == nullptr || link->quarantined || ++link->strikes < kStrikesMax) return;
  link->quarantined = true;
  link->cut_at = now;
  link->attached = false;
  link->asked = false;
  ++counters_.quarantined;
  effects.push_back(Note{
      fmt::format("cut off the drafter at {} after {} malformed messages or impossible trees", link->endpoint, kStrikesMax),
      true});
  effects.push_back(Disconnect{peer});
}

void DrafterLinks::answered(Peer peer, Time took, Time job) {
  DrafterLink* link = find(peer);
  if (link == nullptr) return;
  job = std::min(job, took);
  const bool first = link->answers_in == Time{};
  link->answers_in = first ? took : link->answers_in + (took - link->answers_in) / kAnswerWeight;
  link->drafts_in = first ? job : link->drafts_in + (job - link->drafts_in) / kAnswerWeight;
}

}  // namespace slipstream
