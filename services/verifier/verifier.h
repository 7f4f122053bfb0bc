// The verifier's actor: owns the truth of every sequence it was given. gather (what rows a step has) -> Run<StepPlan> -> settle
// (walk, commit, Tokens to the router, Advance to the drafters). Plain decoding is a step whose trees are empty.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/messages/control.h"
#include "common/messages/draft.h"
#include "common/messages/generate.h"
#include "services/verifier/counters.h"
#include "services/verifier/step_plan.h"

namespace slipstream {

struct VerifierConfig {
  Incarnation incarnation = 0;
  Fingerprint fingerprint;
  std::string numerics_id;
  std::string metrics_endpoint;
  std::vector<std::string> routers;  // endpoints, connected to at the first event
  int32_t context_max = 0;           // tokens of one sequence, prompt and output together
  int32_t cache_blocks = 0;          // of kBlockTokens rows
  int32_t step_rows_max = kStepRowsMax;
};

class Verifier {
 public:
  using Event = std::variant<Woke, PeerUp, PeerDown, Malformed, From<Welcome>, From<Refuse>, From<RouterHeartbeat>, From<Drain>,
                             From<Start>, From<Ack>, From<Cancel>, From<Attached>, From<Tree>, From<Resync>, From<Unknown>,
                             Ran<StepPlan, Choices>>;
  using Effect = std::variant<Connect, Disconnect, WakeAt, Run<StepPlan>, To<Hello>, To<WorkerHeartbeat>, To<Leaving>, To<Accepted>,
                              To<Refused>, To<Tokens>, To<Attach>, To<Advance>, To<Release>>;

  explicit Verifier(VerifierConfig config);
  ~Verifier();
  void on(Event event, Time now, std::vector<Effect>& effects);
  const VerifierCounters& counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
