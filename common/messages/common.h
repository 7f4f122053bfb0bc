// What several messages carry. Plain structs; their encoding is common/wire, each field's meaning
// is docs/design/WIRE.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr uint16_t kProtocolVersion = 1;

struct VersionRange {
  uint16_t oldest = kProtocolVersion;
  uint16_t newest = kProtocolVersion;
  bool includes(uint16_t version) const { return oldest <= version && version <= newest; }
  bool operator==(const VersionRange&) const = default;
};

// What must be equal for two processes to speak of the same tokens; `weights` differs between
// target and drafter.
struct Fingerprint {
  uint64_t tokenizer = 0;            // hash of what gives texts their ids (checkpoint/tokenizer_hash.h)
  int32_t vocabulary = 0;            // rows of the logits
  std::vector<TokenId> special_ids;  // end-of-sequence ids, ascending
  uint64_t weights = 0;              // hash of weights and settings (WIRE.md); 0: no weights (n-gram)
  bool same_tokens(const Fingerprint& other) const {
    return tokenizer == other.tokenizer && vocabulary == other.vocabulary && special_ids == other.special_ids;
  }
  bool operator==(const Fingerprint&) const = default;
};

// Which draft tokens are accepted. Greedy and coupled follow the target's own choice
// (speculation/walk.h); the ratio family weighs what was sampled (accept.h); the last four spend
// total variation and say so (accept_biased.h).
enum class Rule : uint8_t { greedy, coupled, ratio, traversal, lenience, pareto, uniform, typical };
inline constexpr bool is_sampled(Rule rule) { return rule >= Rule::ratio; }  // judges by draft probabilities
inline constexpr bool is_biased(Rule rule) { return rule >= Rule::lenience; }

// A rule with all that drafter and verifier must know of it.
struct Acceptance {
  Rule rule = Rule::greedy;
  float strength = 0;         // of a biased rule: accept_biased.h
  float delta = 0;            // of typical
  uint8_t root_children = 1;  // of a sampled tree: rejection/sampled_tree_builder.h. [1, kSiblingsMax]
  uint8_t children = 1;       // of each other node
  bool repeats = false;       // siblings are sampled with replacement
  bool operator==(const Acceptance&) const = default;
};

// How far to guess, with the reason for it.
struct Tuning {
  uint32_t version = 0;
  float threshold = 1.0F;  // h of the stop rule (speculation/stop_rule.h): stop when 1 - survival > h
  uint16_t nodes_max = 8;  // drafted nodes a round
  uint16_t depth_max = 8;
  uint32_t deadline_us = 3000;  // how long the verifier waits for a tree after its Advance
  std::string reason = "default";
  bool operator==(const Tuning&) const = default;
};

enum class Finish : uint8_t { none, stop, length, cancelled, error };

// Fates of draft nodes since the sequence began; they add up to `received`.
struct SpeculationReport {
  uint32_t steps = 0;     // verify steps that emitted at least one token
  uint32_t received = 0;  // draft nodes that reached the verifier for this sequence
  uint32_t accepted = 0, rejected = 0, unreached = 0, trimmed = 0, late = 0, stale = 0, invalid = 0, held = 0;
  float spent = 0;             // total variation that a biased rule spent, the sum over the tokens emitted
  uint32_t cached_tokens = 0;  // of the prompt, found in the prefix cache when the sequence began
  bool operator==(const SpeculationReport&) const = default;
};

}  // namespace slipstream
