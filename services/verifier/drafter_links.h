// The links of a verifier to drafters: which are open, which have attached, which are cut off, and
// how fast each answers. A link is opened when a sequence names its drafter. Pure; part of the
// verifier's actor.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/actor/backoff.h"
#include "common/messages/by_rule.h"
#include "common/speculation/calibration.h"
#include "services/verifier/counters.h"
#include "services/verifier/events.h"
#include "services/verifier/probe_clock.h"
#include "services/verifier/sequence.h"

namespace slipstream {

inline constexpr int kDrafterLinksMax = 64;
inline constexpr Time kQuarantine = std::chrono::minutes(10);            // since the drafter was cut off
inline constexpr Time kAttachInterval = std::chrono::milliseconds(500);  // an unanswered Attach is sent again; doubling
inline constexpr Time kAttachIntervalMost = std::chrono::seconds(8);

// A drafter that brings little (drafter_worth.h) is asked for one sequence at a time, as what it
// computes, each sequence's prompt above all, may take cores and memory from others: for so many
// steps of that sequence, and then for another. When it ends, for the next that begins, or for any
// once all have taken so many steps.
inline constexpr int kTriedSteps = 256;

struct DrafterLink {
  Peer peer;
  std::string endpoint;
  DraftKind kind;  // as of the last Attached
  bool up = false;
  bool asked = false;  // an Attach is unanswered
  Time ask_at{};       // if asked: when it is sent again
  Backoff asks{kAttachInterval, kAttachIntervalMost};
  bool attached = false;        // both ends have checked each other, and the link is up
  bool reads_features = false;  // as of the last Attached
  bool quarantined = false;     // kStrikesMax malformed messages: cut, and never asked again
  Incarnation incarnation = 0;  // as of the last Attached
  Time answers_in{};            // from Advance to Tree, a moving mean; 0: no tree came yet
  Time drafts_in{};             // of that, the draft job, as the drafter says
  int strikes = 0;
  ByRule<DrafterWorth> worth;  // of asks while it leads: of what the resident method had not guessed
  ByRule<DrafterWorth> added;  // of asks beside a lead: of what neither of these had guessed
  ByRule<Calibration> calibrations;
  ByRule<ProbeClock> probes;
  ProbeClock sampled_probes;      // under rules of the ratio family
  uint64_t on_trial = 0;          // number of the sequence that tries it as its lead, while its worth is unknown; 0: none does
  uint64_t tried_for = 0;         // number of the sequence for which alone it is asked, as it brings little; 0: none now
  int tried_steps = kTriedSteps;  // of that sequence, since then; while there is none, of all its sequences
  int steps_unasked = 0;          // of all its sequences, since one of them asked it, or began to be about to
  std::optional<Time> chosen_at;  // when a sequence last left another lead for it
  Time named_at{};                // when open() last saw that a sequence names it
  Time cut_at{};                  // if quarantined

  ProbeClock& probes_of(Rule rule) { return is_sampled(rule) ? sampled_probes : probes.of(rule); }
};

class DrafterLinks {
 public:
  using Effects = std::vector<VerifierEffect>;

  // Links are peers first_peer, first_peer + 1, ...
  DrafterLinks(const VerifierConfig& config, VerifierCounters& counters, uint64_t first_peer)
      : config_(config), counters_(counters), next_peer_(first_peer) {}

  // Opens links to the drafters that `sequence` names, at most kDrafterLinksMax in all. Forgets
  // those that were quarantined kQuarantine ago. Of the links that no sequence names, closes those
  // that are not attached, and where there are too many the one that was idle longest.
  // A drafter for which there is no room is counted.
  void open(const VerifierSequence& sequence, const VerifierSequences& sequences, Time now, Effects& effects);

  // Null: there is no such link.
  DrafterLink* find(Peer peer);
  const DrafterLink* find(Peer peer) const;
  DrafterLink* find(const std::string& endpoint);

  void up(Peer peer, Time now, Effects& effects);
  void down(Peer peer, Effects& effects);
  // True: another life of the drafter has attached, which holds none of our sequences.
  bool attached(const From<Attached>& event, Time now, Effects& effects);
  // A malformed message or an impossible tree; kStrikesMax of them cut the drafter off.
  void strike(Peer peer, Time now, Effects& effects);
  // A tree came this long after its Advance, of which its drafter says that it drafted for `job`.
  void answered(Peer peer, Time took, Time job);

  void keep(Time now, Effects& effects);  // asks again where an Attach is unanswered
  std::optional<Time> next() const;       // when that is due
  size_t unanswered() const;              // links whose Attach is unanswered
  std::span<const DrafterLink> all() const { return links_; }

 private:
  void ask(DrafterLink& link, Time now, Effects& effects);
  bool close_idle(Time now, Effects& effects);

  const VerifierConfig& config_;
  VerifierCounters& counters_;
  uint64_t next_peer_;
  std::vector<DrafterLink> links_;
  std::deque<Incarnation> refused_;  // that do not draft for us, as a warning told; the newest last, at most kDrafterLinksMax
};

bool names(const VerifierSequence& sequence, const std::string& endpoint);  // among its drafters

}  // namespace slipstream
