// Structs that several messages contain. common/wire encodes them; docs/design/WIRE.md states the
// meaning and range of each field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr uint16_t kProtocolVersion = 1;

// The protocol versions that a process speaks, both ends included.
struct VersionRange {
  uint16_t oldest = kProtocolVersion;
  uint16_t newest = kProtocolVersion;
  bool includes(uint16_t version) const { return oldest <= version && version <= newest; }
  bool operator==(const VersionRange&) const = default;
};

// Identifies a model. Two processes can exchange token ids only if same_tokens() holds for their
// fingerprints. `weights` may differ: a drafter's model is usually not the target.
struct Fingerprint {
  uint64_t tokenizer = 0;        // hash of all that determines token ids (checkpoint/tokenizer_hash.h)
  int32_t vocabulary = 0;        // number of token ids; a row of logits has this length
  std::vector<TokenId> eos_ids;  // end-of-sequence ids, ascending
  uint64_t weights = 0;  // hash of the weights and of settings that change a logit; 0: no weights (n-gram), or not known
  bool same_tokens(const Fingerprint& other) const {
    return tokenizer == other.tokenizer && vocabulary == other.vocabulary && eos_ids == other.eos_ids;
  }
  bool operator==(const Fingerprint&) const = default;
};

// The rule by which the verifier accepts draft tokens.
//
//   greedy, coupled     a draft token is accepted if the target sampled the same token
//                       (speculation/walk.h); the output does not depend on the drafts
//   ratio, traversal    compare target and draft probabilities (rejection/accept.h); the output
//                       has the target's distribution
//   lenience, pareto, uniform, typical
//                       accept more, at a declared distance from the target's distribution
//                       (rejection/accept_biased.h)
//
// All rules from `ratio` on are the "ratio family": their drafts are sampled, and each tree carries
// the distributions that it was sampled from.
enum class Rule : uint8_t { greedy, coupled, ratio, traversal, lenience, pareto, uniform, typical };
inline constexpr bool is_sampled(Rule rule) { return rule >= Rule::ratio; }  // whether it belongs to the ratio family
inline constexpr bool is_biased(Rule rule) { return rule >= Rule::lenience; }

// A rule and its parameters, as drafter and verifier need them.
struct Acceptance {
  Rule rule = Rule::greedy;
  float strength = 0;         // of a biased rule, [0, 1] (rejection/accept_biased.h)
  float delta = 0;            // of `typical`, [0, 1]
  uint8_t root_children = 1;  // of a sampled tree's root, [1, kSiblingsMax] (rejection/sampled_tree_builder.h)
  uint8_t children = 1;       // of each other node of a sampled tree, [1, kSiblingsMax]
  bool repeats = false;       // siblings are sampled with replacement, so two may have the same token
  bool operator==(const Acceptance&) const = default;
};

// How large a tree a drafter may send, how long the verifier waits for it, and why. The router
// chooses one for each drafter that it names.
struct Tuning {
  uint32_t version = 0;    // of this setting; a Tree repeats it
  float threshold = 1.0F;  // h of speculation/stop_rule.h: stop where 1 - survival > h; 1 never stops
  uint16_t nodes_max = 8;  // most nodes of one round's tree
  uint16_t depth_max = 8;
  uint32_t deadline_us = 3000;  // from the Advance until the verifier stops waiting for its tree
  std::string reason = "default";
  bool operator==(const Tuning&) const = default;
};

// Why a sequence ended. none: it goes on.
enum class Finish : uint8_t { none, stop, length, cancelled, error };

// What became of a sequence's draft nodes since its epoch began, as numbers of nodes:
//
//   received = accepted + rejected + unreached + trimmed + late + stale + invalid + merged + held
//
//   accepted, rejected   verified
//   unreached            below a rejected node, or behind a stop token or the length limit
//   trimmed              cut before the pass: they gain less than their rows cost, or are beyond
//                        the step's rows, what was asked for, the model's context or the cache's room
//   late                 for an older round, or arrived after the step of their round had begun
//   stale                their sequence is unknown or finished, their fence does not match
//                        otherwise, they were not asked for, or their round had an answer already;
//                        or they were held and never verified
//   invalid              no valid tree
//   merged               guessed for the same round by another drafter, too, whose nodes count
//   held                 arrived, not settled yet
struct SpeculationReport {
  uint32_t steps = 0;     // rounds that emitted at least one token
  uint32_t received = 0;  // draft nodes that reached the verifier
  uint32_t accepted = 0, rejected = 0, unreached = 0, trimmed = 0, late = 0, stale = 0, invalid = 0, merged = 0, held = 0;
  float spent = 0;             // total variation that a biased rule spent, summed over the emitted tokens
  uint32_t cached_tokens = 0;  // prompt tokens that were in the prefix cache when the sequence began
  uint32_t near_ties = 0;      // emitted tokens that other rows in their step might have turned (sampling/near_tie.h)
  bool operator==(const SpeculationReport&) const = default;
};

}  // namespace slipstream
