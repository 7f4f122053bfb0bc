// The logprobs of a prompt's tokens, if the request wants them. They are computed with the prompt's
// rows: the row before a token gives its logprob. They are kept until the router has them.
//
//   PromptScores scores(start.scored, prompt_length, top);
//   while (!scores.done()) { ... a pass computes scores.wanted() ...; scores.add(logprobs); }
//   scores.of(position, count)        // to send
//   scores.acked(position)            // drops those before it
//
// Positions are those of the sequence. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/check.h"
#include "common/engine/pass.h"
#include "common/sampling/logprobs.h"

namespace slipstream {

class PromptScores {
 public:
  PromptScores() = default;  // nobody wants any
  // had: tokens at the prompt's beginning whose logprobs the router has. The first token has none.
  PromptScores(int32_t had, int32_t prompt_length, int32_t top)
      : kept_from_(std::min(std::max(1, had), prompt_length)), end_(prompt_length), top_(top) {}

  int32_t next() const { return kept_from_ + static_cast<int32_t>(kept_.size()); }  // position of the first token without one
  bool done() const { return next() >= end_; }
  ScoredTokens wanted() const { return {.first = next(), .end = end_, .top = top_}; }
  // Positions that need not be computed, as far as logprobs are concerned.
  int32_t skippable() const { return done() ? kContextTokensMax : next() - 1; }
  void add(std::span<const TokenLogprob> logprobs) {
    kept_.insert(kept_.end(), logprobs.begin(), logprobs.end());
    CHECK(next() <= end_, "logprobs of {} tokens behind a prompt of {}", next() - end_, end_);
  }

  // REQUIRES: both lie between what was acked and next().
  std::span<const TokenLogprob> of(int32_t position, size_t count) const {
    return std::span(kept_).subspan(static_cast<size_t>(position - kept_from_), count);
  }
  void acked(int32_t position) {
    position = std::clamp(position, kept_from_, next());
    kept_.erase(kept_.begin(), kept_.begin() + (position - kept_from_));
    kept_from_ = position;
  }

 private:
  int32_t kept_from_ = 0;  // position of kept_[0]
  int32_t end_ = 0;        // the prompt's
  int32_t top_ = 0;
  std::vector<TokenLogprob> kept_;
};

}  // namespace slipstream
