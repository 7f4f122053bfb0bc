// Messages of the boundary `draft`, between verifier and drafter. Ranges and repetition:
// docs/design/WIRE.md, section 6.
//
// Each message is delivered at most once. A tree whose fence does not match the verifier's state is
// dropped and counted, and is never verified, unless it is ahead (its base is longer): then it may
// be parked until the verifier reaches its base.
#pragma once

#include <optional>
#include <variant>

#include "common/base/tree_node.h"
#include "common/messages/control.h"
#include "common/messages/generation.h"

namespace slipstream {

// Both ways: verifier and drafter compare versions and tokenizers themselves, whatever the router
// told them.

// From the verifier, when the link is up. It is repeated until answered.
struct Attach {
  VersionRange versions;
  Incarnation verifier = 0;
  Fingerprint fingerprint;
  uint64_t head = 0;  // the draft head whose features it can send: the hash of its weights; 0: none
  bool operator==(const Attach&) const = default;
};
// The drafter's answer.
struct Attached {
  uint16_t version = kProtocolVersion;
  Incarnation drafter = 0;
  Fingerprint fingerprint;
  std::string method;
  std::string model = {};     // name of the drafter's model; empty: the method has none
  std::string refusal;        // why the drafter will not draft for this verifier; empty: it will
  bool attach_first = false;  // this answers an Advance, not an Attach: the drafter has no Attach of this verifier
  bool reads_features = false;
  bool operator==(const Attached&) const = default;
};

// Says which state of a sequence a message refers to. The receiver compares it with its own state:
// a verifier drops a tree that does not match, unless it is ahead, and a drafter drops an old
// Advance and answers any other that does not match with a Resync. The base is the tokens [0,
// base_length) of the sequence, prompt included.
struct Fence {
  SequenceId sequence;
  Epoch epoch = 0;
  Round round = 0;
  int32_t base_length = 0;
  uint64_t prefix_hash = 0;  // of the base (base/prefix_hash.h)
  bool operator==(const Fence&) const = default;
};

// From verifier to drafter.

// Brings the drafter up to date and, usually, asks for a tree.
struct Advance {
  Fence fence;                  // its base is what the drafter holds before `tokens`
  std::vector<TokenId> tokens;  // follow the base
  bool draft = true;            // answer with a Tree; false: more tokens of this round follow
  Tuning tuning;
  std::optional<GenerationSpec> info;  // drafter_part() of the request; present if the base length is 0
  // [nodes + 1] of the Tree that the drafter sent for this base, in its order: the target's choice
  // after the root, then after each node; kNoVerdict after a node that was not verified. Empty:
  // there was no such tree, or its rule is of the ratio family, where no single choice is defined.
  std::vector<TokenId> verdicts = {};
  // [tokens, hidden] bf16, to a drafter that reads features: of the token before each one, as the
  // draft head's target computed it (f of model/heads/eagle_head.h). The first token of a sequence
  // has none before it, and comes alone.
  std::vector<uint16_t> features = {};
  bool operator==(const Advance&) const = default;
};
// The sequence is over: the drafter frees it.
struct Release {
  SequenceId sequence;
  Epoch epoch = 0;
  bool operator==(const Release&) const = default;
};

// From drafter to verifier.

// Why a Tree has no nodes. none: it has some.
enum class NoNodes : uint8_t { none, busy, leaving, below_threshold };

// The distribution that the children of one row were sampled from (rejection/token_distribution.h).
struct DraftDistribution {
  std::vector<TokenId> ids;       // ascending, at most kDraftDistributionTokensMax
  std::vector<uint16_t> weights;  // [ids] their sum is kDraftDistributionTotal
  bool operator==(const DraftDistribution&) const = default;
};
// Answers an Advance that asked for a tree. The nodes are not checked yet: TokenTree::make and
// DraftTree::make decide whether they are a tree.
//
//   nodes          [nodes] without the root, which is the last token of the base
//   distributions  [nodes + 1] of the root, then of each node; empty for a row without children.
//                  Only for a rule of the ratio family; no entries for the others.
struct Tree {
  Fence fence;  // its base is the base of that Advance and its tokens
  std::vector<TreeNode> nodes;
  std::vector<DraftDistribution> distributions;
  NoNodes no_nodes = NoNodes::none;
  uint32_t draft_us = 0;  // time that the draft job took; for metrics alone
  bool operator==(const Tree&) const = default;
};
// Answers an Advance that does not fit: the verifier shall send again from token `held` on.
struct Resync {
  SequenceId sequence;
  Epoch epoch = 0;
  Round round = 0;
  int32_t held = 0;  // tokens of the sequence that the drafter holds; 0: send all, with info
  bool operator==(const Resync&) const = default;
};

using DraftMessage = std::variant<Attach, Attached, Advance, Release, Tree, Resync, Unknown>;

}  // namespace slipstream
