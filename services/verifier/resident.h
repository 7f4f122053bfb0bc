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
#include "services/verifier/probe_clock.h"
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

  ProbeClock& probes(Rule rule) { return probes_.of(rule); }

  const DraftKind& kind() const { return kind_; }  // in metrics
  MethodWork work() const { return method_ == nullptr ? MethodWork() : method_->work(); }
  ByRule<Calibration>& calibrations() { return calibrations_; }

 private:
  DraftKey follow(VerifierSequence& sequence);

  std::unique_ptr<Method> method_;
  DraftKind kind_;
  ByRule<Calibration> calibrations_;
  ByRule<ProbeClock> probes_;
};

}  // namespace slipstream
