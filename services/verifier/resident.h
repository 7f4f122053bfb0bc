// The draft method that runs inside the verifier (--resident), on the loop's thread. It drafts when
// a round begins, so its tree is never late, needs no message and takes no core from the model. Its
// tree is merged with those of the sequence's drafters
// (common/speculation/merged_tree.h). Only for methods that are quick(), and only for greedy and
// coupled requests.
#pragma once

#include <memory>
#include <string>

#include "common/drafting/method.h"
#include "common/messages/by_rule.h"
#include "common/speculation/calibration.h"
#include "services/verifier/counters.h"
#include "services/verifier/sequence.h"

namespace slipstream {

class Resident {
 public:
  explicit Resident(std::unique_ptr<Method> method);  // null: there is none

  bool drafts_for(const VerifierSequence& sequence) const;
  // Brings the method up to date with the sequence, and drafts. REQUIRES: drafts_for(sequence).
  TokenTree draft(VerifierSequence& sequence, const StopRule& rule);
  // The sequence has ended: the method gets its last tokens, and frees it.
  void end(VerifierSequence& sequence);

  // Steps of sequences that it drafts for, over all of them, so that short answers probe, too.
  void stepped(Rule rule) { ++unverified_steps_.of(rule); }
  void verified(Rule rule) { unverified_steps_.of(rule) = 0; }  // a node of it was verified
  bool due_for_probe(Rule rule) const { return unverified_steps_.of(rule) >= kProbeGapSteps; }

  const DraftKind& kind() const { return kind_; }  // in metrics
  MethodWork work() const { return method_ == nullptr ? MethodWork() : method_->work(); }
  ByRule<Calibration>& calibrations() { return calibrations_; }

 private:
  DraftKey follow(VerifierSequence& sequence);

  std::unique_ptr<Method> method_;
  DraftKind kind_;
  ByRule<Calibration> calibrations_;
  ByRule<int> unverified_steps_;  // since a node of it was verified
};

}  // namespace slipstream
