// The drafting part of a verifier's sequence: who drafts for it, what the running round asked of
// whom, and what came.
//
// Several drafters may draft for a sequence at once, each of another kind (drafter_links.h), since
// two of a kind guess the same. The first one leads: steps wait for its trees while it may be in
// time, and for those of the others while they are as quick as usual, if they gain enough. Rules
// that need probabilities have a lead only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/prefix_hash.h"
#include "common/drafting/context_words.h"
#include "common/messages/draft.h"
#include "common/messages/generate.h"
#include "common/speculation/acceptance_rate.h"
#include "common/speculation/draft_backoff.h"
#include "common/speculation/rejection/draft_tree.h"
#include "services/verifier/drafter_worth.h"
#include "services/verifier/fates.h"
#include "services/verifier/feature_window.h"
#include "services/verifier/head_worth.h"

namespace slipstream {

inline constexpr size_t kDraftersAtOnceMax = 3;  // that draft for one sequence

// A lead that is of no use makes way for another, which begins with the whole prompt: after this
// many useless rounds in a row, twice as many the next time, until a guess is accepted.
inline constexpr int kPatienceFirst = 2;
inline constexpr int kPatienceMost = 64;
inline constexpr Round kPassedOnRounds = 64;  // without a turn for it, unless no other is there

inline constexpr int kTreesRemembered = 16;  // of a drafter for a sequence

inline constexpr Round kExploreRounds = 16;  // one of so many is drafted without the router's threshold

// What one drafter was asked for the running round, from the Advance to the step that goes on.
struct TreeAsk {
  bool asked = false;     // an Advance asked for a tree
  bool leads = false;     // of the lead
  bool answered = false;  // it came, with or without nodes
  bool busy = false;      // the drafter would not draft: for the back-off as bad as too late
  bool prefills = false;  // the drafter has much to prefill first: hardly waited for, and no failure when late
  bool resynced = false;  // a Resync was answered: once a round is enough
  bool late = false;      // it came, and later than the drafter's tuning allows
  bool probes = false;    // a node of it is verified whatever it seems worth (probe_clock.h)
  int nodes = 0;          // most nodes that the Advance asked for
  Time deadline{};        // if asked: when the step goes on without the tree
};

// A tree for a longer base than ours, which was checked and cut when it came.
struct ParkedTree {
  int32_t base_length = 0;
  uint64_t prefix_hash = 0;
  KindIndex kind = 0;  // of its drafter
  DraftTree tree;
};

// One of the drafters of a sequence.
struct SequenceDrafter {
  Peer peer;
  Tuning tuning = {};  // as the router had last said when the running round began
  bool heard = false;  // a tree of it came
  int32_t holds = 0;   // tokens of the sequence that it has; `prefix` covers exactly those
  PrefixHash prefix;
  TreeAsk ask;                       // of the running round
  std::optional<ParkedTree> parked;  // held until a commit reaches its base
  Round asked_round = 0;             // the newest that asked for a tree whose time says something
  Time asked_at{};                   // and when
  DraftBackoff backoff;
  std::vector<TokenId> verdicts;                  // on the tree that it sent last, for the next Advance; empty: there are none
  NodesWon tree_won{.accepted = kTreeGainFirst};  // of a tree lately, on average: nodes that no source before it had
  float threshold = 1.0F;                         // of what is asked for next: survivals that the price allows
};

// Who guesses, in the order in which a node is credited to those that guessed it.
enum class DraftBy : uint8_t {
  grammar,   // the request's grammar (grammar_draft.h)
  resident,  // the verifier's own method (resident.h)
  head,      // the target's draft head (resident_head.h)
  drafter
};

// A tree that was merged into a round's draft, as it was guessed.
struct DraftSource {
  DraftBy by = DraftBy::drafter;
  Peer drafter = {};  // if it was a drafter
  KindIndex kind = 0;
  TokenTree tree;
  bool gets_verdicts = false;  // the drafter is told what became of `sent`
  TokenTree sent = {};         // the same tree, with nodes that were not asked for
};

// One round's draft, until the step that verifies it.
struct DraftRound {
  // Ratio family: the lead's tree. Other rules: the trees of all sources, merged; a node's survival
  // is then its calibrated chance to be accepted.
  DraftTree tree;
  std::vector<KindIndex> kinds;  // [tree.size()] the kind whose tree had the node first (fates.h)
  std::vector<DraftSource> sources;
  bool plain = false;            // nobody drafts: the masks of its rows would be too much work
  int nodes_asked = 0;           // of the lead
  bool resident_probes = false;  // a node of the resident method is verified whatever it seems worth
  bool head_considered = false;  // it was decided whether the head drafts
  bool head_asked = false;       // and it did
  bool head_probes = false;      // a node of it is verified whatever it seems worth
  float head_guessed = 0;        // the chance of the best first token that others had guessed, when the head was asked
};

struct SequenceDrafting {
  // As the router last said.
  std::vector<DrafterRef> named;
  std::vector<std::string> order;  // their endpoints; the first that is there leads; rotated when it proves useless
  uint16_t draft_nodes_max = 0;    // of a round's tree, whoever guesses its nodes; 0: plain decoding
  uint16_t draft_depth_max = 0;
  uint32_t assignment = 0;  // version of the newest Assign

  // The running round.
  Round round = 0;
  Time round_began{};
  DraftRound draft;

  // The drafters, the lead first; at most kDraftersAtOnceMax.
  std::vector<SequenceDrafter> drafters;
  bool lead_stays = false;  // as long as it is there; else the next round picks anew
  Peer passed_on;           // the lead that was useless last, which gets no turn until that round
  Round passed_on_until = 0;
  int useless = 0;  // rounds of the lead in a row that failed (draft_backoff.h); one that says it is busy counts for two
  int patience = kPatienceFirst;  // at this many useless rounds another one gets its chance

  AcceptanceRate rate;  // for rules that keep their budget
  float price = 0;      // tokens that a node must gain to pay for itself, as of the last step

  // The resident method.
  int32_t resident_holds = 0;  // tokens; 0: it does not know the sequence

  bool reads_features = false;  // one of its drafters does
  FeatureWindow features;       // for these; empty: there are none

  HeadWorth head;      // of asks of the draft head for this sequence
  ContextWords words;  // when it was asked last

  // Most nodes and depth of that drafter's trees for this request; and of the next one, which its
  // back-off may make smaller.
  int nodes_bound(const SequenceDrafter& of) const { return std::min(draft_nodes_max, of.tuning.nodes_max); }
  int depth_bound(const SequenceDrafter& of) const { return std::min(draft_depth_max, of.tuning.depth_max); }
  int nodes_max(const SequenceDrafter& of) const { return std::min(nodes_bound(of), of.backoff.nodes_max()); }
  // This round's tree of that source has a node verified whatever it seems worth.
  bool probes(const DraftSource& source) const {
    if (source.by == DraftBy::resident) return draft.resident_probes;
    if (source.by == DraftBy::head) return draft.head_probes;
    const SequenceDrafter* drafter = source.by == DraftBy::drafter ? find(source.drafter) : nullptr;
    return drafter != nullptr && drafter->ask.probes;
  }

  // Null: there is none.
  SequenceDrafter* lead() { return drafters.empty() ? nullptr : &drafters.front(); }
  const SequenceDrafter* lead() const { return drafters.empty() ? nullptr : &drafters.front(); }
  SequenceDrafter* find(Peer peer) {
    const auto at = std::ranges::find(drafters, peer, &SequenceDrafter::peer);
    return at == drafters.end() ? nullptr : &*at;
  }
  const SequenceDrafter* find(Peer peer) const { return const_cast<SequenceDrafting*>(this)->find(peer); }
};

}  // namespace slipstream
