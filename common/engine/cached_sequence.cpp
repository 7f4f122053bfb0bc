#include "common/engine/cached_sequence.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace slipstream {

CachedSequence::CachedSequence(BlockPool& pool, int32_t prompt_length, LogitsParams logits_params, TenantId tenant)
    : prompt_length_(prompt_length), table_(pool), prefix_(tenant) {
  if (logits_params.any()) logits_processor_ = std::make_shared<LogitsProcessor>(std::move(logits_params));
}

// The tokens may hold the end of the prompt and the beginning of the output: a sequence that moves
// to another verifier arrives with both. The logits processor counts them apart.
void CachedSequence::append(std::span<const TokenId> tokens) {
  if (logits_processor_) {
    const auto missing = static_cast<size_t>(std::max(0, -output()));  // of the prompt
    const size_t prompt = std::min(missing, tokens.size());
    if (prompt > 0) logits_processor_->add_prompt(tokens.first(prompt));
    logits_processor_->add_output(tokens.subspan(prompt));
  }
  hash_.add(tokens);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

void CachedSequence::computed(int32_t rows) {
  CHECK(moves_.empty(), "{} pending moves of a sequence that was computed", moves_.size());
  cached_ += rows;
  in_place_ = cached_;
}

void CachedSequence::recompute_root() {
  cached_ = std::min(cached_, root());
  in_place_ = std::min(in_place_, cached_);
}

// Order matters: moves are computed from the old root, then the tokens are appended, which moves
// the root. The token that the target sampled last has no K/V yet, so cached() ends before it.
void CachedSequence::commit(std::span<const int32_t> path, std::span<const TokenId> tokens) {
  CHECK(path.size() <= tokens.size(), "a path of {} rows brings {} tokens", path.size(), tokens.size());
  table_.commit(root(), path, moves_);
  const int32_t behind_root = root() + 1;
  cached_ = behind_root + static_cast<int32_t>(path.size());
  // With pending moves, rows behind the root are not yet where their positions say.
  in_place_ = moves_.empty() ? cached_ : behind_root;
  append(tokens);
}

void CachedSequence::forget() {
  table_.shrink(0);
  cached_ = in_place_ = 0;
  moves_.clear();
  prefix_ = prefix_.start();
}

}  // namespace slipstream
