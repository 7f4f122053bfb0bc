#include "services/drafter/draft_queue.h"

#include <algorithm>
#include <utility>

namespace slipstream {

void DraftQueue::learn(const DraftKey& key, std::vector<TokenId> verdicts) {
  if (!verdicts.empty()) plan_.operations.push_back(DraftPlan::Learn{key, std::move(verdicts)});
}

void DraftQueue::extend(const DraftKey& key, std::vector<TokenId> tokens, std::vector<uint16_t> features) {
  if (!tokens.empty()) plan_.operations.push_back(DraftPlan::Extend{key, std::move(tokens), std::move(features)});
}

// false sorts before true, so the pair puts asks that are past their deadline last. stable_sort
// keeps the order of keys among equal deadlines, so that equal events always give the same job.
std::optional<DraftPlan> DraftQueue::start(Time now) {
  if (computing_ || (plan_.empty() && asks_.empty())) return std::nullopt;
  std::vector<Ask*> order;
  for (auto& [key, ask] : asks_) order.push_back(&ask);
  std::ranges::stable_sort(order, {}, [&](const Ask* each) { return std::pair(each->ask.due < now, each->ask.due); });
  for (Ask* each : order) {
    plan_.asks.push_back(each->ask);
    plan_.answers.push_back(std::move(each->answer));
  }
  asks_.clear();
  computing_ = true;
  return std::exchange(plan_, {});
}

void DraftQueue::finished(DraftPlan buffers) {
  computing_ = false;
  if (!plan_.empty()) return;  // new operations have come: these buffers are let go
  buffers.clear();
  plan_ = std::move(buffers);
}

}  // namespace slipstream
