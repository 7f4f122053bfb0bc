// The verifier's actor: owns the truth of every sequence it was given. gather (what rows a step
// has) -> Run<VerifyPlan> -> settle (walk, commit, Tokens to the router, Advance to the drafters).
// Plain decoding is a step whose trees are empty.
#pragma once

#include <memory>
#include <vector>

#include "common/drafting/method.h"
#include "services/verifier/counters.h"
#include "services/verifier/events.h"

namespace slipstream {

class Verifier {
 public:
  using Event = VerifierEvent;
  using Effect = VerifierEffect;

  // resident: a quick method that drafts here, beside the drafters (resident.h); null: none.
  explicit Verifier(VerifierConfig config, std::unique_ptr<Method> resident = nullptr);
  ~Verifier();
  void on(Event event, Time now, std::vector<Effect>& effects);
  const VerifierCounters& counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
