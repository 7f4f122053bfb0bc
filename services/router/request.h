// What the HTTP thread and the actor tell each other about one request. Plain data; they meet
// through bounded queues only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/messages/generation.h"
#include "common/sampling/logprobs.h"
#include "services/router/acceptance_histogram.h"
#include "services/router/rule_choice.h"

namespace slipstream {

using RequestId = uint64_t;  // never reused in a router's life: it is the counter of the request's SequenceId too

// Whether, by whom and how drafts may speed a request up.
struct Speculation {
  bool enabled = true;
  Acceptance acceptance{.rule = Rule::coupled};  // as asked for; each Delivery says what runs
  uint16_t nodes_max = kTreeNodesMax;            // drafted nodes a round, and no more than the tuning's
  uint16_t depth_max = kTreeDepthMax;
  std::string drafter = {};  // method; empty: any
};

// From the HTTP thread. Limits that need no worker (types, ranges, body size) were checked there.
struct Submit {
  RequestId request = 0;
  std::vector<TokenId> prompt;
  // What the request decides. Each Start adds the length of the prompt, the acceptance rule of its
  // epoch and, for an output_max of 0, the tokens that the context of its verifier leaves.
  GenerationSpec spec;
  Speculation speculation = {};
};
struct Abandon {  // cancel, deliver nothing more
  enum class Why : uint8_t { client_went, stop_string, failed };
  RequestId request = 0;
  Why why = Why::client_went;
};

// From the process, when it is told to stop: take no new request; now: fail those that are here,
// too.
struct Closing {
  bool now = false;
};

// To the HTTP thread.
struct Delivery {
  RequestId request = 0;
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;             // [ids] 1: a drafter had guessed it
  std::vector<uint8_t> depths;              // [ids] of the tree that the token's step judged; 0: it had none
  Finish finish = Finish::none;             // none, stop or length: the rest arrives as Failure
  SpeculationReport report;                 // since the request began, over all its verifiers
  Acceptance asked;                         // for by the request
  RuleChoice rule;                          // that ran last
  uint64_t backend = 0;                     // hash of tokenizer, weights and numerics id: equal ones give equal words
  std::vector<TokenLogprob> logprobs = {};  // [ids] if they were asked for
  AcceptanceHistogram histogram = {};       // of the report
};
// What Retry-After tells a client whose request was not taken, in seconds.
inline constexpr int kRetryFullSeconds = 1;        // a queue is full, or this router leaves
inline constexpr int kRetryNoVerifierSeconds = 5;  // no verifier is there: one has to start
struct Failure {
  RequestId request = 0;
  int status = 500;  // before the first token; after it, an error event ends the stream
  std::string code;  // OpenAI's `code`: "queue_full", "context_length_exceeded", ...
  std::string message;
  int retry_after_s = 0;   // 0: no Retry-After
  std::string param = {};  // the field at fault, if one is
};

// Of a router that was told to stop. request: 0 where there is none yet.
inline Failure shutting_down(RequestId request = 0) {
  return {.request = request,
          .status = 503,
          .code = "shutting_down",
          .message = "This router is shutting down. Try again: another, or the next one here, will take it.",
          .retry_after_s = kRetryFullSeconds};
}

}  // namespace slipstream
