// Which tokens a draft head scores for a row beside those of its reduced vocabulary, by the
// target's own output layer: the words of the context (context_words.h), and, of sampled requests,
// the tokens that the row's noise favours most (sampling/favoured_tokens.h). They are few, so they
// cost little; what they win is in docs/lab/PERFORMANCE.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/drafting/context_words.h"
#include "common/model/language_model.h"
#include "common/sampling/favoured_tokens.h"

namespace slipstream {

// A word that was said is said again more often than a head thinks that never had it in its
// vocabulary: of bonuses of 0 to 3 nats, this one makes most guesses right.
inline constexpr float kContextWordBonus = 1.5F;  // nats

class ExtraTokens {
 public:
  ExtraTokens() = default;  // none
  // None if the model's head scores none.
  explicit ExtraTokens(const LanguageModel& model) {
    if (const TokenMask* own = model.draft_vocabulary()) favoured_.emplace(*own, model.config().vocabulary);
  }

  // Appends a row's kExtraTokens to `extra`, or nothing if there are none for any row. words: of
  // its sequence, not in the draft vocabulary.
  void add(std::span<const TokenId> words, const RowSampling& row, std::vector<ExtraToken>& extra);

 private:
  std::optional<FavouredTokens> favoured_;
};

}  // namespace slipstream
