#pragma once

#include <optional>

#include "common/actor/backoff.h"
#include "services/router/request.h"
#include "services/router/stream.h"
#include "services/router/workers.h"

namespace slipstream {

// One request from Submit to its last token, wherever it is worked on.
struct LiveRequest {
  enum class Phase : uint8_t { waiting, starting, running };  // no verifier; Start not answered; accepted

  Submit submit;
  std::vector<uint64_t> prefixes;  // of the prompt (prefix_memory.h)
  Stream stream;
  Time submitted{};

  Phase phase = Phase::waiting;
  Epoch epoch = 0;                   // of the newest Start
  Peer verifier;                     // starting, running
  Peer drafter;                      // starting, running: the first of its drafters; id 0: none
  std::vector<DrafterRef> drafters;  // starting, running: as told last
  RuleChoice rule;                   // starting, running: of its epoch
  uint32_t assignment = 0;           // of the newest Assign
  Time assign_sent{};                // its last copy
  Backend backend;                   // starting, running; once a token is out, the only one that may go on
  int32_t output_max = 0;            // starting, running; once a token is out, fixed
  Time start_first_sent{};           // starting
  Time repeat_at{};                  // starting, running: when its Start goes out again, if nothing is heard
  Backoff repeats;                   // of that
  Time acked_again{};                // starting, running: the newest Ack that was not for something fresh
  bool ack_owed = false;             // one more such, which was too early

  Time waiting_since{};   // since it was admitted or lost a verifier that worked on it; refusals do not reset it
  Time requeued_since{};  // waiting: since no verifier was there that could take it
  Time not_before{};      // waiting: pause after a refusal
  Backoff refusals;       // of that
  Peer refused_by;        // waiting: the last to refuse; others go first
  Time newest_token{};
  std::optional<Time> moved;  // when it was moved to a less loaded verifier
  Peer came_from;             // and from which

  bool pinned() const { return stream.next_index() > 0; }
  Time waited_from() const { return pinned() ? newest_token : submitted; }  // for its next token
  int32_t context_needed() const {  // tokens, prompt and output together, at least one of output
    const int32_t output = pinned() ? output_max : submit.spec.output_max;
    return static_cast<int32_t>(submit.prompt.size()) + std::max(1, output);
  }
};

}  // namespace slipstream
