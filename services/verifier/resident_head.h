// The target's draft head inside the verifier (--head): when it is asked, and what its trees have
// won. A draft of it is a job of its own on the compute thread, between two steps of the target,
// so it is never late; but every pass of it delays all sequences of the next step. So it has a
// price that look-up does not have:
//
//   pass price  = seconds of a pass / seconds of a step    in tokens: what a sequence would have got meanwhile
//   draft price = seconds of a draft / seconds of a step   its passes, and the way to the compute thread and back
//   expected   = (accepted - row price * verified) * open    accepted, verified: nodes an ask lately, divided by how open
//                                                            those rounds were; open = 1 - the chance of the best first
//                                                            token that others have guessed already for this round
//
// The row price is that of now: what rows cost while a machine was busy, or under more load, says
// nothing about an ask today. `accepted` and `verified` are those of the sequence itself, as far
// as it was asked for it, since texts differ much in how well they can be guessed: the mean over
// all sequences counts as kHeadPriorAsks asks beside them. The fewer the asks, the better a
// sequence may be than it seems, and whoever is not asked for is not known any better. So
// `accepted` is taken to be higher by the mean of all divided by the root of the asks, as upper
// confidence bounds are (UCB1: Auer, Cesa-Bianchi and Fischer, Machine Learning 47, 2002), by
// kHeadAskSpread divided by the root of all asks, since a head's first asks may have bad luck, and
// by kHeadTextSpread divided by the root of all sequences, since its first texts may be hard ones;
// of that less with each ask of its own, and nothing after kHeadTrialAsks.
//
// The head is asked where `expected` is at least the price of a draft as they were lately, and a
// tree grows by one more level where that level pays for its pass (StopRule::level_price). Two
// kinds of asks are made whatever they cost: the first kHeadTrialAsks, since one ask wins a token
// or none; and a probe after steps without an ask, of the sequence or of all, so that a head that
// becomes useful again is noticed. Probes take kHeadProbeShare of the time, but there is one in
// kProbeGapSteps steps at least.
//
// For the ratio family it samples its trees from its own distributions, and is the only one that
// drafts: nobody has to wait for it, so nothing that is sampled decides about a wait
// (docs/design/adr/0008). How long a chain is, is decided before it is sampled, from how often the
// sequence's drafts were accepted lately, those of all sequences before its first (chain_length()).
// Pure.
#pragma once

#include <string>

#include "common/base/ids.h"
#include "common/messages/by_rule.h"
#include "common/speculation/acceptance_rate.h"
#include "common/speculation/calibration.h"
#include "services/verifier/counters.h"
#include "services/verifier/head_worth.h"
#include "services/verifier/probe_clock.h"

namespace slipstream {

inline constexpr int kHeadAsksRemembered = 256;    // of all sequences
inline constexpr int kHeadOwnAsksRemembered = 32;  // of one
inline constexpr int kHeadDraftsRemembered = 64;   // their times and passes
inline constexpr int kHeadTrialAsks = 16;
inline constexpr int kHeadPriorAsks = 8;
inline constexpr double kHeadAskSpread = 0.7;     // tokens: the standard deviation of what an ask wins
inline constexpr double kHeadTextSpread = 0.6;    // tokens: that of what asks win in one text and another
inline constexpr double kHeadProbeShare = 0.005;  // of plain time that probes may take

// Tokens of a chain each of which has the chance alpha to be accepted, given those before it, for
// as long as the next one gains its price (engine/row_budget.h, chain_gains()).
int chain_length(double alpha, double price, int most);

class ResidentHead {
 public:
  explicit ResidentHead(std::string name);  // of the head, for metrics; empty: there is none

  bool drafts() const { return !kind_.method.empty(); }  // there is one
  // Whether to ask it for a sequence of which others have guessed the next token with that chance.
  // own: what asks for that sequence won. row_price: tokens that a row of the next step must gain.
  bool pays(Rule rule, const HeadWorth& own, double guessed, double row_price, double step_seconds) const;
  bool due_for_probe(Rule rule, const HeadWorth& own, double row_price, double step_seconds) const;
  // Tokens that one more pass must gain.
  float pass_price(double step_seconds) const;

  void stepped(Rule rule, HeadWorth& own) { ++worth_.of(rule).unasked, ++own.unasked; }  // a sequence that it drafts for
  void asked(Rule rule, HeadWorth& own) { worth_.of(rule).unasked = own.unasked = 0; }
  // A draft took so many passes, so long for them, and so long in all.
  void drafted(int passes, double pass_seconds, double draft_seconds);
  // Of an ask so many nodes that nobody else had guessed were verified, and so many accepted.
  // guessed: as it was told to pays().
  void won(Rule rule, HeadWorth& own, int verified, int accepted, double guessed);
  // A tree that it sampled was verified. And the chance, of all sequences lately, that a node is
  // accepted, given that its parent was: what one more sequence begins with.
  void sampled(int depth, int accepted) { sampled_rate_.tree(depth, accepted); }
  double sampled_alpha() const { return sampled_rate_.alpha(); }

  const DraftKind& kind() const { return kind_; }
  ByRule<Calibration>& calibrations() { return calibrations_; }

 private:
  DraftKind kind_;
  ByRule<Calibration> calibrations_;
  ByRule<HeadWorth> worth_;
  AcceptanceRate sampled_rate_;
  int drafts_ = 0;                               // up to as many as the means remember
  double pass_seconds_ = 0, draft_seconds_ = 0;  // 0: none was made yet
};

}  // namespace slipstream
