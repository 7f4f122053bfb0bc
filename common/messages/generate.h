// Messages of the boundary `generate`, between router and verifier. Ranges and repetition:
// docs/design/WIRE.md, section 5.
//
// Each token is delivered exactly once: the verifier repeats Tokens until they are acknowledged,
// and the router skips those whose output index it already has.
#pragma once

#include <optional>
#include <variant>

#include "common/messages/control.h"
#include "common/messages/generation.h"
#include "common/messages/tree_report.h"
#include "common/sampling/logprobs.h"

namespace slipstream {

// A drafter that the verifier may connect to.
struct DrafterRef {
  Incarnation incarnation = 0;
  std::string endpoint;
  Tuning tuning = {};  // of its trees for this sequence; with nodes_max 0 it does not draft
  bool same_drafter(const DrafterRef& other) const { return incarnation == other.incarnation && endpoint == other.endpoint; }
  bool operator==(const DrafterRef&) const = default;
};

// From router to verifier.

// Starts a sequence on a verifier. It is repeated until the verifier answers Accepted or Refused.
struct Start {
  SequenceId sequence;
  Epoch epoch = 0;
  GenerationSpec spec;
  std::vector<TokenId> tokens;       // the prompt, then the output of earlier epochs
  std::vector<DrafterRef> drafters;  // the first one that is up begins; empty: plain decoding
  // Of one round's tree, whoever guesses its nodes: the drafters together, and the verifier's own
  // method.
  uint16_t draft_nodes_max = Tuning{}.nodes_max;  // 0: plain decoding
  uint16_t draft_depth_max = Tuning{}.depth_max;
  int32_t scored = 0;          // tokens at the prompt's beginning whose logprobs the router has, if the spec wants them
  uint32_t lease_ms = 10'000;  // the verifier frees the sequence after this long without a RouterHeartbeat
  bool operator==(const Start&) const = default;
};
// Replaces the drafters of a live sequence, or their tunings. It has no answer: the router repeats
// the newest one, so a lost one does no harm.
struct Assign {
  SequenceId sequence;
  Epoch epoch = 0;
  uint32_t version = 0;              // 1, 2, ... in an epoch; the verifier drops an older one
  std::vector<DrafterRef> drafters;  // as in Start
  bool operator==(const Assign&) const = default;
};
// Acknowledges Tokens.
struct Ack {
  SequenceId sequence;
  Epoch epoch = 0;
  int32_t next_index = 0;  // index (Tokens) that the router expects next; the verifier sends again from there
  bool finished = false;   // the router has the finish too: the verifier forgets the sequence
  bool operator==(const Ack&) const = default;
};
// Ends a sequence: its client has gone.
struct Cancel {
  SequenceId sequence;
  Epoch epoch = 0;
  bool operator==(const Cancel&) const = default;
};

// From verifier to router.

// The answers to a Start.
struct Accepted {
  SequenceId sequence;
  Epoch epoch = 0;
  bool operator==(const Accepted&) const = default;
};
struct Refused {
  SequenceId sequence;
  Epoch epoch = 0;
  std::string reason;
  bool retry = false;  // a later try here, or one on another verifier, may succeed
  bool operator==(const Refused&) const = default;
};
// Newly emitted tokens, or logprobs of the prompt's. The verifier keeps them, and the finish, until
// they are acknowledged or the lease ends.
//
// The token at position p of the sequence has the index p - prompt_length: an output token's is at
// least 0. If the spec wants the prompt's logprobs, those come first, in messages of their own with
// an index below 0: without ids, which the router knows.
struct Tokens {
  SequenceId sequence;
  Epoch epoch = 0;
  int32_t first_index = 0;  // of ids[0], or of logprobs[0] if it is below 0
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;  // [ids] 1: it was an accepted draft token; else 0
  std::vector<uint8_t> depths;   // [ids] depth of the draft tree in the step that emitted it; 0: no tree
  Finish finish = Finish::none;
  std::string reason;        // with Finish::error: a sentence for the client
  std::string field;         // with Finish::error: the request's field that is the cause ("bad_words"); empty: none is
  SpeculationReport report;  // totals since the epoch began
  std::vector<TokenLogprob> logprobs;  // [ids] if the Start asked for them, else empty; or of the prompt's tokens
  // If the Start asked for them: of the rounds whose first token is among the ids, the newest ones
  // at most, ascending by first_index.
  std::vector<TreeReport> trees;
  bool operator==(const Tokens&) const = default;
};

using GenerateMessage = std::variant<Start, Ack, Cancel, Accepted, Refused, Tokens, Assign, Unknown>;

}  // namespace slipstream
