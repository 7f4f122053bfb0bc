#include "services/drafter/draft_queue.h"

#include <utility>

namespace slipstream {

void DraftQueue::extend(const DraftKey& key, std::vector<TokenId> tokens) {
  if (!tokens.empty()) plan_.operations.push_back(DraftPlan::Extend{key, std::move(tokens)});
}

std::optional<DraftPlan> DraftQueue::start() {
  if (computing_ || (plan_.empty() && asks_.empty())) return std::nullopt;
  for (auto& [key, ask] : asks_) {
    plan_.asks.push_back({key, ask.rule});
    plan_.answers.push_back(std::move(ask.answer));
  }
  asks_.clear();
  computing_ = true;
  return std::exchange(plan_, {});
}

void DraftQueue::finished(DraftPlan buffers) {
  computing_ = false;
  if (!plan_.empty()) return;  // filled meanwhile
  buffers.clear();
  plan_ = std::move(buffers);
}

}  // namespace slipstream
