// A draft method: proposes the next tokens of sequences. For each sequence a drafter calls
//
//   begin    once; then
//   learn    with the target's verdicts on the tree that it drafted last, if there are any
//   see      with the features of the tokens that come next, if it reads any
//   advance  with the prompt and with every batch of tokens that the verifier emitted
//   draft    whenever the verifier asks for a tree
//   end      once
//
// A method keeps its own state of each sequence and has no policy: how large a tree may be comes
// with each ask. The caller (services/drafter/draft_job.h, services/verifier/resident.h) has
// checked that calls are in order and up to date, so a method trusts its input. Threads: one thread
// calls it, the compute thread, or the loop's if it is quick().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/result.h"
#include "common/messages/draft.h"
#include "common/speculation/rejection/draft_tree.h"
#include "common/speculation/reliability.h"
#include "common/speculation/stop_rule.h"

namespace slipstream {

// Identifies a sequence of a verifier in its drafter.
struct DraftKey {
  Peer verifier;  // one incarnation of it
  SequenceId sequence;
  auto operator<=>(const DraftKey&) const = default;
};

struct DraftAsk {
  DraftKey key;
  StopRule rule;
  Epoch epoch = 0;  // with the round: the key of a sampled tree's random numbers (rejection/random_source.h)
  Round round = 0;
  Time due{};  // when the verifier stops waiting
};

// The answer to one ask:
//   a tree          sampled, if the sequence's rule is of the ratio family (rejection/accept.h)
//   an empty tree   no token is likely enough for the rule's threshold
//   nullopt         the method is still computing the sequence's context (a long prompt): ask again
using Draft = std::optional<DraftTree>;

// What a method has done since it was made; zero where it does not apply.
struct MethodWork {
  uint64_t passes = 0;             // forward passes
  uint64_t rows = 0;               // rows of all passes
  uint64_t prefix_tokens = 0;      // tokens that the prefix cache had
  uint64_t evictions = 0;          // sequences that lost their cache blocks to others
  uint64_t remembered_tokens = 0;  // of earlier answers, that memory is taken for now
  uint64_t forgotten_tenants = 0;  // whose answers were forgotten for want of memory
  DepthReliability learnt{};       // children that it proposed and on which there was a verdict
  bool operator==(const MethodWork&) const = default;
};

// The model that a method drafts with, for status pages and logs. A method without a model has an
// empty name and weights 0.
struct DraftModel {
  std::string name;
  uint64_t weights = 0;  // checkpoint/fingerprint.h
  bool operator==(const DraftModel&) const = default;
};

// The features that a method reads beside tokens (Advance::features).
struct FeaturesRead {
  uint64_t head = 0;    // the draft head that they are for: the hash of its weights; 0: none are read
  int32_t numbers = 0;  // of each
};

// Tokens that a method holds at most, over all sequences, each of which takes `beside` more.
struct MethodRoom {
  int64_t tokens = 0;
  int64_t beside = 0;
};

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string_view name() const = 0;
  virtual bool quick() const { return false; }  // draft() is faster than handing the job to another thread and back
  virtual void begin(const DraftKey& key, const GenerationSpec& spec) = 0;  // a known key starts again without tokens
  // verdicts: as in Advance (messages/draft.h), on the tree that the last draft() gave for this
  // sequence. Those on a tree of another size are on another tree, and are ignored. A method that
  // does not calibrate itself ignores all.
  virtual void learn(const DraftKey& /*key*/, std::span<const TokenId> /*verdicts*/) {}
  // features: as in Advance, of the tokens of the next advance().
  virtual void see(const DraftKey& /*key*/, std::span<const uint16_t> /*features*/) {}
  virtual void advance(const DraftKey& key, std::span<const TokenId> tokens) = 0;
  // Drafts for all asks in one batch, the most urgent ask first. Returns one answer per ask. A call
  // that answers an ask with nullopt must have computed a part of its context. An error fails all
  // asks.
  virtual Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) = 0;
  virtual void end(const DraftKey& key) = 0;
  virtual MethodWork work() const { return {}; }
  virtual DraftModel draft_model() const { return {}; }
  virtual FeaturesRead features_read() const { return {}; }
  virtual std::optional<MethodRoom> room() const { return std::nullopt; }  // none: it evicts what it has no room for
};

}  // namespace slipstream

template <>
struct std::hash<slipstream::DraftKey> {
  size_t operator()(const slipstream::DraftKey& key) const noexcept {
    return std::hash<slipstream::Peer>{}(key.verifier) * 31 + std::hash<slipstream::SequenceId>{}(key.sequence);
  }
};
