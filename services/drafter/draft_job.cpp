#include "services/drafter/draft_job.h"

#include <chrono>

#include "common/base/check.h"

namespace slipstream {
namespace {

// Performs one operation of a plan.
struct Teach {
  Method& method;
  void operator()(const DraftPlan::Begin& begin) const { method.begin(begin.key, begin.spec); }
  void operator()(const DraftPlan::Learn& learn) const { method.learn(learn.key, learn.verdicts); }
  void operator()(const DraftPlan::Extend& extend) const {
    if (!extend.features.empty()) method.see(extend.key, extend.features);
    method.advance(extend.key, extend.tokens);
  }
  void operator()(const DraftPlan::End& end) const { method.end(end.key); }
};

}  // namespace

void DraftPlan::clear() {
  operations.clear();
  asks.clear();
  answers.clear();
}

Result<Drafts> run_draft(Method& method, DraftPlan& plan) {
  const auto begin = std::chrono::steady_clock::now();
  for (const DraftPlan::Operation& operation : plan.operations) std::visit(Teach{method}, operation);
  Drafts drafts;
  // A plan without asks only brings the method up to date; its tokens may wait there for a later
  // ask.
  if (!plan.asks.empty()) {
    TRY(drafts.trees, method.draft(plan.asks));
  }
  CHECK(drafts.trees.size() == plan.asks.size(), "{} answered {} asks with {} trees", method.name(), plan.asks.size(),
        drafts.trees.size());
  drafts.work = method.work();
  const auto spent = std::chrono::steady_clock::now() - begin;
  drafts.draft_us = static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(spent).count());
  return drafts;
}

std::vector<DraftDistribution> distributions_of(const DraftTree& tree) {
  std::vector<DraftDistribution> distributions;
  for (int row = 0; tree.sampled() && row <= tree.size(); ++row) {
    const TokenDistribution distribution = tree.distribution(row);
    distributions.push_back({.ids = {distribution.ids.begin(), distribution.ids.end()},
                             .weights = {distribution.weights.begin(), distribution.weights.end()}});
  }
  return distributions;
}

}  // namespace slipstream
