// Boundary `generate`: router <-> verifier. Tokens are delivered exactly once, by index and Ack.
#pragma once

#include <optional>
#include <variant>

#include "common/messages/control.h"
#include "common/messages/generation.h"
#include "common/sampling/logprobs.h"

namespace slipstream {

struct DrafterRef {
  Incarnation incarnation = 0;
  std::string endpoint;
  bool operator==(const DrafterRef&) const = default;
};

// router -> verifier; repeated until answered.
struct Start {
  SequenceId sequence;
  Epoch epoch = 0;
  GenerationSpec spec;
  std::vector<TokenId> tokens;       // the prompt, then what was emitted in earlier epochs
  std::vector<DrafterRef> drafters;  // empty: plain decoding
  Tuning tuning;
  uint32_t lease_ms = 10'000;  // without a RouterHeartbeat for this long the sequence is freed
  bool operator==(const Start&) const = default;
};
// Who drafts for a live sequence from now on, and how far to guess, in place of what its Start
// said. Lost, it does no harm.
struct Assign {
  SequenceId sequence;
  Epoch epoch = 0;
  uint32_t version = 0;              // grows from Assign to Assign of an epoch, from 1; an older one is dropped
  std::vector<DrafterRef> drafters;  // the first that is there drafts; empty: plain decoding
  Tuning tuning;
  bool operator==(const Assign&) const = default;
};
struct Ack {
  SequenceId sequence;
  Epoch epoch = 0;
  int32_t next_index = 0;  // output index expected next; below what was sent: send again from there
  bool finished = false;   // the finish came too: forget the sequence
  bool operator==(const Ack&) const = default;
};
struct Cancel {
  SequenceId sequence;
  Epoch epoch = 0;
  bool operator==(const Cancel&) const = default;
};

// verifier -> router
struct Accepted {
  SequenceId sequence;
  Epoch epoch = 0;
  bool operator==(const Accepted&) const = default;
};
struct Refused {
  SequenceId sequence;
  Epoch epoch = 0;
  std::string reason;
  bool retry = false;  // another try, here later or elsewhere now, may succeed
  bool operator==(const Refused&) const = default;
};
struct Tokens {  // kept, with the finish, until acked or the lease ends
  SequenceId sequence;
  Epoch epoch = 0;
  int32_t first_index = 0;  // output index of ids[0]
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;  // [ids] 1: a drafter had guessed it
  std::vector<uint8_t> depths;   // [ids] of the tree that the token's step verified; 0: it had none
  Finish finish = Finish::none;
  std::string reason;                  // with Finish::error: what failed, for the client
  std::string field;                   // of the request, if that is at fault: "bad_words"; empty: it is not
  SpeculationReport report;            // since the epoch began
  std::vector<TokenLogprob> logprobs;  // [ids] if its Start asked for them, else none
  bool operator==(const Tokens&) const = default;
};

using GenerateMessage = std::variant<Start, Ack, Cancel, Accepted, Refused, Tokens, Assign, Unknown>;

}  // namespace slipstream
