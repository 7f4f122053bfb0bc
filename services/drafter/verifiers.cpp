// The drafter's verifiers: Attach and its check, strikes, and quarantine.
#include <utility>

#include <fmt/format.h>

#include "services/drafter/drafter_state.h"

namespace slipstream {
namespace {

// Why this drafter cannot draft for the sender of the Attach, as a sentence; empty if it can.
std::string why_not(const Attach& attach, const Fingerprint& ours, uint64_t head) {
  if (!attach.versions.includes(kProtocolVersion)) {
    return fmt::format("this drafter speaks protocol version {}, the verifier {} to {}: install the same release on both",
                       kProtocolVersion, attach.versions.oldest, attach.versions.newest);
  }
  if (!attach.fingerprint.same_tokens(ours)) {
    return fmt::format(
        "tokenizers differ (drafter {:016x} with {} ids, verifier {:016x} with {}): start the drafter with the verifier's "
        "model "
        "folder",
        ours.tokenizer, ours.vocabulary, attach.fingerprint.tokenizer, attach.fingerprint.vocabulary);
  }
  if (head != 0 && attach.head != head) {
    return fmt::format(
        "this drafter reads the features of draft head {:016x}, and the verifier sends {}: start the verifier with the same "
        "--head, and with --head-at drafters",
        head, attach.head == 0 ? "none" : fmt::format("those of {:016x}", attach.head));
  }
  return {};
}

}  // namespace

// An evicted peer loses its sequences too, because its later messages are refused until it attaches
// again.
VerifierPeer* Drafter::State::meet(Peer peer, Time now) {
  if (worker.is_router(peer)) {
    ++counters.misplaced;
    return nullptr;
  }
  std::optional<Peer> evicted;
  VerifierPeer& met = verifiers.meet(peer, now, evicted);
  if (evicted) free(sequences.of_verifier(*evicted));
  return met.quarantined() ? nullptr : &met;
}

VerifierPeer* Drafter::State::meet_attached(Peer peer, Time now) {
  VerifierPeer* met = meet(peer, now);
  if (met == nullptr || met->attached) return met;
  ++counters.unattached;
  return nullptr;
}

void Drafter::State::strike(Peer peer, VerifierPeer& from, Effects& effects, const std::string& why) {
  ++from.strikes;
  if (!from.quarantined()) return;
  from.attached = false;
  ++counters.quarantined;
  free(sequences.of_verifier(peer));
  effects.push_back(Disconnect{peer});
  effects.push_back(Note{fmt::format("ignoring verifier {:016x} after {} malformed messages, the last: {}",
                                     incarnation_of(peer), kStrikesMax, why),
                         true});
}

void Drafter::State::on(const Malformed& event, Time now, Effects& effects) {
  ++counters.malformed;
  if (worker.is_router(event.peer)) return;  // routers get no strikes: this process chose them
  if (VerifierPeer* met = meet(event.peer, now)) strike(event.peer, *met, effects, event.why);
}

void Drafter::State::on(const From<Attach>& event, Time now, Effects& effects) {
  VerifierPeer* met = meet(event.peer, now);
  if (met == nullptr) return;
  // A verifier may attach again, with the link or with another model. Its sequences stay if it is
  // accepted and are freed if it is refused.
  std::string refusal = worker.draining() ? "this drafter is leaving: use another"
                                          : why_not(event.message, config.fingerprint, config.features.head);
  met->attached = refusal.empty();
  if (met->attached) {
    ++counters.attached;
  } else {
    ++counters.attach_refused;
    free(sequences.of_verifier(event.peer));
    effects.push_back(Note{fmt::format("refused verifier {:016x}: {}", event.message.verifier, refusal), !worker.draining()});
  }
  effects.push_back(To<Attached>{event.peer, introduction(std::move(refusal))});
}

Attached Drafter::State::introduction(std::string refusal) const {
  return {.drafter = config.process.incarnation,
          .fingerprint = config.fingerprint,
          .method = config.method,
          .model = config.draft_model,
          .refusal = std::move(refusal),
          .reads_features = config.features.head != 0};
}

}  // namespace slipstream
