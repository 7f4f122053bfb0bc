// One request from Submit to its last token: what holds in every phase, and a variant that says
// which phase it is in.
//
//   Submit -> Waiting --Start sent--> Starting --Accepted or Tokens--> Running -> finished or failed
//                ^                       |                               |
//                +--refused, no answer, or the verifier is lost----------+
//
// A request that moves to another verifier (one that leaves, or has too much to do) is Starting
// again there without a wait.
#pragma once

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "common/actor/backoff.h"
#include "common/actor/span.h"
#include "common/base/check.h"
#include "services/router/received_tokens.h"
#include "services/router/request.h"
#include "services/router/workers.h"

namespace slipstream {

// It is in the queue and has no verifier.
struct Waiting {
  Time
      since{};  // when it began to wait for its grammar or was admitted, or lost a verifier that ran it; a refusal does not reset this
  Time no_verifier_since{};  // since when no verifier is there that could ever take it
  Time not_before{};         // when the pause after a refusal ends
};

// What Starting and Running have in common: an epoch of the request at one verifier.
struct AtVerifier {
  Peer verifier;
  RuleChoice rule;                   // of this epoch
  Peer drafter;                      // the first of its drafters; id 0: it has none
  std::vector<DrafterRef> drafters;  // as the newest Start or Assign says
  uint32_t assignment = 0;           // version of the newest Assign; 0: the epoch has had none
  Time assign_sent{};                // the newest copy of that
  std::optional<Time> retuned{};     // when an Assign last changed nothing but thresholds
  Time repeat_at{};                  // when the router speaks again if it hears nothing: Start, or an Ack as a question
  Backoff repeats;                   // of repeat_at
  Time acked_again{};                // the newest Ack that was not for something fresh
  bool ack_owed = false;             // another such Ack waits until ack_repeat_ms have passed
  int32_t prefill_tokens = 0;        // of prompt and output so far, while the first token of this epoch is awaited
};

// Its Start is not answered yet.
struct Starting : AtVerifier {
  Time first_sent{};     // the first copy of this Start
  Time waiting_since{};  // as in Waiting, should the verifier refuse
};

// Its verifier has accepted the Start.
struct Running : AtVerifier {};

// One request. A member that belongs to one phase only is in that phase's struct.
struct LiveRequest {
  // Constant after construction.
  Submit submit;
  std::vector<uint64_t> prefixes;  // hashes of the prompt's prefixes (prefix_memory.h)
  Time submitted{};

  // The answer so far.
  ReceivedTokens received;
  Time newest_token{};
  std::optional<Time> told{};     // when the client was last told anything
  std::vector<SpanEvent> events;  // of its span, if it is traced

  // Its place.
  std::variant<Waiting, Starting, Running> phase;
  Epoch epoch = 0;          // of the newest Start
  Backend backend;          // of the newest Start's verifier; once a token is out, the only one that may go on
  int32_t output_max = 0;   // of the newest Start; once a token is out, fixed
  bool may_differ = false;  // a Start came after a token was out, at a verifier whose rows vary

  // What earlier places left.
  Backoff refusals;           // the pause after the next refusal
  Peer refused_by;            // the last verifier to refuse, or to fail; others go first
  bool failed_once = false;   // a verifier failed it
  std::optional<Time> moved;  // when it last moved to a less loaded verifier
  Peer came_from;             // the verifier that it left then

  bool waits() const { return std::holds_alternative<Waiting>(phase); }
  bool runs() const { return std::holds_alternative<Running>(phase); }
  bool is_at(Peer verifier) const { return !waits() && at_verifier().verifier == verifier; }

  // REQUIRES: !waits().
  const AtVerifier& at_verifier() const {
    CHECK(!waits(), "request {} waits: it has no verifier", submit.request);
    if (const auto* starting = std::get_if<Starting>(&phase)) return *starting;
    return std::get<Running>(phase);
  }
  AtVerifier& at_verifier() {
    CHECK(!waits(), "request {} waits: it has no verifier", submit.request);
    if (auto* starting = std::get_if<Starting>(&phase)) return *starting;
    return std::get<Running>(phase);
  }

  // Since when no verifier runs it; `now` if one does.
  Time idle_since(Time now) const {
    if (const auto* waiting = std::get_if<Waiting>(&phase)) return waiting->since;
    const auto* starting = std::get_if<Starting>(&phase);
    return starting != nullptr ? starting->waiting_since : now;
  }

  // A token is out, or a logprob of the prompt: only a verifier of the same backend may go on, so
  // that the words stay the same.
  bool pinned() const { return received.any(); }
  Time token_awaited_since() const { return pinned() ? newest_token : submitted; }
  // Tokens of prompt and output together, at least one of output.
  int32_t context_needed() const {
    const int32_t output = pinned() ? output_max : submit.spec.output_max;
    return static_cast<int32_t>(submit.prompt.size()) + std::max(1, output);
  }
};

}  // namespace slipstream
