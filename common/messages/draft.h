// Boundary `draft`: verifier <-> drafter. At most once; what does not match its fence is dropped
// and counted, never verified.
#pragma once

#include <optional>
#include <variant>

#include "common/base/tree_node.h"
#include "common/messages/control.h"
#include "common/messages/generation.h"

namespace slipstream {

// both ways: the pair checks itself, whatever the router said
struct Attach {
  VersionRange versions;
  Incarnation verifier = 0;
  Fingerprint fingerprint;
  bool operator==(const Attach&) const = default;
};
struct Attached {
  uint16_t version = kProtocolVersion;
  Incarnation drafter = 0;
  Fingerprint fingerprint;
  std::string method;
  std::string refusal;        // not empty: no drafting, and why
  bool attach_first = false;  // answers an Advance of a verifier that this drafter does not know: no Attach was heard
  bool operator==(const Attached&) const = default;
};

// What a message speaks of. Base: the tokens [0, base_length) of the sequence; prefix_hash covers
// exactly those.
struct Fence {
  SequenceId sequence;
  Epoch epoch = 0;
  Round round = 0;
  int32_t base_length = 0;
  uint64_t prefix_hash = 0;
  bool operator==(const Fence&) const = default;
};

// verifier -> drafter
struct Advance {
  Fence fence;  // base: what the drafter already holds, before `tokens`
  std::vector<TokenId> tokens;
  bool draft = true;  // false: just keep up (a chunk of a prompt, or the guard backs off)
  Tuning tuning;
  std::optional<GenerationSpec> info;  // drafter_part() of it; with the first Advance and the one that answers a Resync
  bool operator==(const Advance&) const = default;
};
struct Release {
  SequenceId sequence;
  Epoch epoch = 0;
  bool operator==(const Release&) const = default;
};

// drafter -> verifier
enum class NoNodes : uint8_t { none, busy, leaving, below_threshold };
struct DraftDistribution {  // that the children of a row were sampled from (rejection/token_distribution.h)
  std::vector<TokenId> ids;
  std::vector<uint16_t> weights;  // [ids] they add up to kDraftDistributionTotal
  bool operator==(const DraftDistribution&) const = default;
};
struct Tree {
  Fence fence;  // base: after the Advance that it answers; the root is token base_length - 1
  uint32_t tuning_version = 0;
  std::vector<TreeNode> nodes;  // as received: TokenTree::make and DraftTree::make decide whether it is a tree
  std::vector<DraftDistribution>
      distributions;  // [nodes + 1] if the rule is of the ratio family, else none; empty where a row has no children
  NoNodes no_nodes = NoNodes::none;
  uint32_t draft_us = 0;  // time the method spent
  bool operator==(const Tree&) const = default;
};
struct Resync {  // "I hold `held` tokens of this sequence": send the rest, with info
  SequenceId sequence;
  Epoch epoch = 0;
  Round round = 0;
  int32_t held = 0;
  bool operator==(const Resync&) const = default;
};

using DraftMessage = std::variant<Attach, Attached, Advance, Release, Tree, Resync, Unknown>;

}  // namespace slipstream
