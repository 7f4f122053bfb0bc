// One draft job as the actor plans it and the compute thread runs it over a Method.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/drafting/method.h"

namespace slipstream {

// What the method must learn, in order; then one batch of asks, each at the newest state of its
// sequence, the most urgent first.
struct DraftPlan {
  struct Begin {
    DraftKey key;
    GenerationSpec spec;
  };
  struct Extend {
    DraftKey key;
    std::vector<TokenId> tokens;
  };
  struct End {
    DraftKey key;
  };
  using Operation = std::variant<Begin, Extend, End>;

  std::vector<Operation> operations;
  std::vector<DraftAsk> asks;
  std::vector<Tree> answers;  // [asks] the answers without their nodes: fence and tuning version, for when the job is back

  bool empty() const { return operations.empty() && asks.empty(); }
  void clear();  // keeps the capacity
};

struct Drafts {
  std::vector<Draft> trees;  // [asks]
  uint32_t draft_us = 0;     // of the whole batch
  MethodWork work;           // since the process began
};

Result<Drafts> run_draft(Method& method, DraftPlan& plan);

// A tree's distributions as they are shipped; none of a tree that was not sampled.
std::vector<DraftDistribution> distributions_of(const DraftTree& tree);

}  // namespace slipstream
