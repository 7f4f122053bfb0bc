// A draft method: begin / advance / draft / end. It runs on the compute thread, owns its state of
// each sequence, and keeps no policy: how far to guess comes with each ask. The caller (draft_job)
// has checked fences; a method may trust its input.
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
#include "common/speculation/stop_rule.h"

namespace slipstream {

// A verifier's sequence as its drafter names it.
struct DraftKey {
  Peer verifier;  // one incarnation
  SequenceId sequence;
  auto operator<=>(const DraftKey&) const = default;
};

struct DraftAsk {
  DraftKey key;
  StopRule rule;
  Epoch epoch = 0;  // with the round: whose luck it is (rejection/random_source.h)
  Round round = 0;
  Time due{};  // when its verifier stops waiting
};

// One ask's tree, sampled if the sequence's rule is of the ratio family; an empty one says "nothing
// above the threshold". None at all: the method is not through with the sequence's tokens yet (a
// long prompt), and wants to be asked again.
using Draft = std::optional<DraftTree>;

// What a method with a model has done since it began.
struct MethodWork {
  uint64_t passes = 0;         // forward passes
  uint64_t rows = 0;           // of all passes
  uint64_t prefix_tokens = 0;  // found in the cache and not computed
  uint64_t evictions = 0;      // sequences whose cache went to others
  bool operator==(const MethodWork&) const = default;
};

// The model that a method drafts with, for people. A method without a model has no name and weights
// 0.
struct DraftModel {
  std::string name;
  uint64_t weights = 0;  // checkpoint/fingerprint.h
  bool operator==(const DraftModel&) const = default;
};

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string_view name() const = 0;
  virtual bool quick() const { return false; }  // a job takes less time than handing it to another thread and back
  virtual void begin(const DraftKey& key, const GenerationSpec& spec) = 0;  // a known key starts anew
  virtual void advance(const DraftKey& key, std::span<const TokenId> tokens) = 0;
  // [asks] Batched over all sequences; the first asks are the most urgent. One that is not answered
  // must have been brought nearer to its answer. An error fails them all.
  virtual Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) = 0;
  virtual void end(const DraftKey& key) = 0;
  virtual MethodWork work() const { return {}; }
  virtual DraftModel draft_model() const { return {}; }
};

}  // namespace slipstream

template <>
struct std::hash<slipstream::DraftKey> {
  size_t operator()(const slipstream::DraftKey& key) const noexcept {
    return std::hash<slipstream::Peer>{}(key.verifier) * 31 + std::hash<slipstream::SequenceId>{}(key.sequence);
  }
};
