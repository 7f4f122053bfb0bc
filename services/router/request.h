// What the HTTP thread and the router's actor tell each other: Submit, Abandon and SetDrained go to
// the actor, Delivery, StillHere and Failure come back. Plain data. The two sides meet through
// bounded queues only.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/messages/generation.h"
#include "common/messages/tree_report.h"
#include "common/sampling/logprobs.h"
#include "services/router/acceptance_histogram.h"

namespace slipstream {

using RequestId = uint64_t;  // never reused in a router's life: it is the counter of the request's SequenceId too

// Whether drafts may speed a request up, which, and how they are accepted.
struct Speculation {
  bool enabled = true;
  Acceptance acceptance{.rule = Rule::coupled};  // what the client asked for; each Delivery says what runs
  uint16_t nodes_max = kTreeNodesMax;            // drafted nodes a round; the router's own limit holds too
  uint16_t depth_max = kTreeDepthMax;
  std::string drafter = {};  // method; empty: any
};

// Why another acceptance rule runs than the client asked for. A sampled rule relies on the
// probabilities that drafters report. Without a drafter whose reports the router trusts, the
// coupled rule runs instead: its output has the same distribution.
enum class RuleReason : uint8_t { as_asked, temperature_zero, no_drafter, no_drafter_of_that_method, no_trusted_drafter };
inline constexpr std::array<std::string_view, 5> kRuleReasons{"", "temperature_zero", "no_drafter", "no_drafter_of_that_method",
                                                              "no_trusted_drafter"};
constexpr std::string_view name_of(RuleReason reason) { return kRuleReasons[static_cast<size_t>(reason)]; }

struct RuleChoice {
  Acceptance ran;
  RuleReason reason = RuleReason::as_asked;
};

inline constexpr int32_t kPriorityMost = 1000;  // either way from 0

// To the actor. The HTTP side has checked all limits that need no worker (types, ranges, size of
// the body).
struct Submit {
  RequestId request = 0;
  std::vector<TokenId> prompt;
  // What the request decides. Each Start adds the length of the prompt, the acceptance rule of its
  // epoch and, for an output_max of 0, the tokens that the context of its verifier leaves.
  GenerationSpec spec;
  Speculation speculation = {};
  std::string_view prompt_field = "messages";  // the request's, as errors name it; a literal
  std::string longest_result = {};             // the result of a tool that is most of it, as errors name it; empty: none is
  std::chrono::microseconds waited = {};       // already, for its grammar
  int32_t priority = 0;                        // lower ones are served first, within kPriorityMost of 0
  bool answer_begun = false;                   // another choice of the same answer has begun: it is too late to refuse
  bool came_in_time = false;                   // before this router was told to stop
};

// To the actor: cancel the request and deliver nothing more.
struct Abandon {
  enum class Why : uint8_t { client_went, stop_string, failed };
  RequestId request = 0;
  Why why = Why::client_went;
};

// To the actor: assign this drafter to no request and take it from those that it drafts for, or use
// it again. It holds while this router and the drafter live, also if it connects anew. Words never
// depend on who drafts, so they do not change.
struct SetDrained {
  Incarnation drafter = 0;
  bool drained = true;
};

// To the actor, from the process that was told to stop: take no new request.
struct Closing {
  bool now = false;  // the requests that are live or wait fail, too
};

// To the HTTP thread: the next tokens of a request.
struct Delivery {
  RequestId request = 0;
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;             // [ids] 1: a drafter had guessed it
  std::vector<uint8_t> depths;              // [ids] of the draft tree of the token's step; 0: it had none
  Finish finish = Finish::none;             // none, stop or length; any other end arrives as a Failure
  SpeculationReport report;                 // since the request began, over all its verifiers
  Acceptance asked;                         // for by the client
  RuleChoice rule;                          // of the newest epoch
  uint64_t backend = 0;                     // hash of tokenizer, weights and numerics id: equal ones give equal words
  bool may_differ = false;                  // replayed where rows vary: words may not be those of one verifier
  std::vector<TokenLogprob> logprobs = {};  // [ids] if they were asked for
  // The next ones of the prompt's tokens, from the second token on, if they were asked for. All
  // come before the first of the ids.
  std::vector<TokenLogprob> prompt_logprobs = {};
  std::vector<TreeReport> trees = {};  // if they were asked for: of the rounds whose first token is among the ids
  AcceptanceHistogram histogram = {};  // of the report
};

// What Retry-After tells a client whose request was not taken, in seconds.
inline constexpr int kRetryFullSeconds = 1;        // a queue is full, or this router shuts down
inline constexpr int kRetryNoVerifierSeconds = 5;  // no verifier is there: one has to start
inline constexpr int kRetryMostSeconds = 60;       // no longer: by then a forecast is worth little

// To the HTTP thread: the request is alive, and there is nothing new to deliver. Sent when a
// verifier has accepted it, and whenever nothing else was sent for a while.
struct StillHere {
  RequestId request = 0;
};

// To the HTTP thread: the request has ended without a finish.
struct Failure {
  RequestId request = 0;
  int status = 500;  // before the first token; after it, an error event ends the stream
  std::string code;  // OpenAI's `code`: "queue_full", "context_length_exceeded", ...
  std::string message;
  int retry_after_s = 0;   // 0: no Retry-After
  std::string param = {};  // the field at fault, if one is
};

// How every error of a request that is too long begins: clients know OpenAI's sentence, and shorten
// their messages when they see it.
inline std::string context_words(int32_t context_max) {
  return "This model's maximum context length is " + std::to_string(context_max) + " tokens.";
}

// The Failure of a router that was told to stop. request: 0 where there is none yet.
inline Failure shutting_down(RequestId request = 0) {
  return {.request = request,
          .status = 503,
          .code = "shutting_down",
          .message = "This router is shutting down. Try again: another, or the next one here, will take it.",
          .retry_after_s = kRetryFullSeconds};
}

}  // namespace slipstream
