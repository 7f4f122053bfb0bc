// A draft job: the plan that the actor makes, and the function that runs it on a Method.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/drafting/method.h"

namespace slipstream {

// The plan of one job. The method first performs the operations in order, which bring its sequences
// up to date. It then answers all asks in one batch, the most urgent first; a sequence has at most
// one ask, for its newest state.
struct DraftPlan {
  struct Begin {
    DraftKey key;
    GenerationSpec spec;
  };
  struct Learn {
    DraftKey key;
    std::vector<TokenId> verdicts;
  };
  struct Extend {
    DraftKey key;
    std::vector<TokenId> tokens;
    std::vector<uint16_t> features = {};  // as in Advance
  };
  struct End {
    DraftKey key;
  };
  using Operation = std::variant<Begin, Learn, Extend, End>;

  std::vector<Operation> operations;
  std::vector<DraftAsk> asks;
  std::vector<Tree> answers;  // [asks] their fences; the actor adds the nodes when the job has ended

  bool empty() const { return operations.empty() && asks.empty(); }
  void clear();  // keeps the capacity of its vectors
};

// The result of a job.
struct Drafts {
  std::vector<Draft> trees;  // [asks]
  uint32_t draft_us = 0;     // duration of the whole job
  MethodWork work;           // totals since the process began
};

// Runs the plan. Error: Method::draft failed; the operations were performed all the same.
// REQUIRES: the method gives one Draft for each ask.
Result<Drafts> run_draft(Method& method, DraftPlan& plan);

// The distributions of a sampled tree as a Tree message carries them, [nodes + 1]; empty for a tree
// that was not sampled.
std::vector<DraftDistribution> distributions_of(const DraftTree& tree);

}  // namespace slipstream
