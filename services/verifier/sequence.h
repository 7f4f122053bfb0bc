// What a verifier knows of one sequence. Plain data; who changes what: verifier.cpp (life),
// gather.cpp (rows), settle.cpp (tokens), drafting.cpp (drafts).
//
// Invariants between steps:
//   1. a sequence that decodes has context.prefill_rows() == 0: all but the root, the last token,
//      is in the cache;
//   2. drafted.size() == output().
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/prefix_hash.h"
#include "common/engine/cached_sequence.h"
#include "common/messages/draft.h"
#include "common/messages/generate.h"
#include "common/speculation/acceptance_rate.h"
#include "common/speculation/draft_backoff.h"
#include "common/speculation/rejection/draft_tree.h"
#include "services/verifier/send_window.h"
#include "services/verifier/tree_timing.h"

namespace slipstream {

// One round's draft, from the Advance that asks for it to the step that verifies it.
struct DraftRound {
  bool asked = false;     // an Advance asked for a tree
  bool answered = false;  // it came, with or without nodes
  bool busy = false;      // the drafter would not: for the guard as bad as too late
  bool learns = false;    // it has much to learn first: hardly waited for, and no failure when late
  bool resynced = false;  // a Resync was answered: once a round is enough
  Time deadline{};        // asked: when to go on without
  bool late = false;      // it came, and was waited for, longer than the tuning allows
  DraftTree tree;         // empty until it comes
};

// A drafter that is of no use makes way for another, which begins with the whole prompt: after so
// many useless rounds, twice as many the next time, until a guess is accepted.
inline constexpr int kPatienceFirst = 2;
inline constexpr int kPatienceMost = 64;

struct VerifierSequence {
  explicit VerifierSequence(CachedSequence given) : context(std::move(given)) {}

  // Constant after Start.
  uint64_t life = 0;  // of all sequences that this verifier ever had: a step's result is for one life only
  SequenceId id;
  Epoch epoch = 0;
  Peer router;
  GenerationSpec spec;
  Time lease{};

  // As the router last said.
  std::vector<DrafterRef> drafters;  // the first that is there drafts
  Tuning tuning;
  uint32_t assignment = 0;  // version of the newest Assign

  // The truth.
  CachedSequence context;              // prompt and output, and their place in the cache
  std::vector<uint8_t> drafted;        // [output] 1: a drafter had guessed it
  std::vector<uint8_t> depths;         // [output] of the tree that its step verified; 0: none
  std::vector<TokenLogprob> logprobs;  // if asked for, from output index logprobs_from on: what is acked is dropped
  int32_t logprobs_from = 0;
  Finish finish = Finish::none;
  std::string finish_reason;  // with Finish::error
  std::string finish_field;   // likewise, if the request is at fault: the field that is
  SpeculationReport report;

  // The draft.
  Round round = 0;
  DraftRound draft;
  std::optional<Tree> parked;     // for a longer base than ours: held until a commit reaches it
  Peer drafter;                   // id 0: none
  bool drafter_stays = false;     // as long as it is there; else the next round picks anew
  int useless = 0;                // rounds in a row for which it was late; one that says it is busy counts for two
  int patience = kPatienceFirst;  // so many, and another one gets its chance
  int32_t drafter_holds = 0;      // tokens; drafter_prefix covers exactly those
  PrefixHash drafter_prefix;
  Round asked_round = 0;  // the newest that asked for a tree whose time says something
  Time asked_at{};        // and when
  DraftBackoff backoff;
  AcceptanceRate rate;
  Time round_began{};

  // Delivery.
  SendWindow window;
  Time lease_ends{};
  bool in_step = false;       // has rows in the step that runs
  bool root_in_step = false;  // the root's among them: too late for this round's tree

  int32_t output() const { return context.output(); }                                     // tokens
  int32_t root() const { return context.root(); }                                         // its position
  int32_t prompt_rows_left() const { return context.prefill_rows(); }                     // rows to compute before the root's
  int nodes_max() const { return std::min<int>(tuning.nodes_max, backoff.nodes_max()); }  // of a tree now
  bool running() const { return finish == Finish::none; }
  TreeTiming timing() const { return tree_timing(spec.acceptance.rule); }
  int32_t to_send() const { return output() + (running() ? 0 : 1); }  // what there is, as send_window.h counts
};

}  // namespace slipstream
