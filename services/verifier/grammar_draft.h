// The draft method of a request with a grammar: it guesses where the grammar leaves little choice.
// Where one token is allowed, that token is certain; where a few are, each is guessed. So a JSON
// document's keys, quotes and brackets cost no step of their own, and structured output is faster
// than free text. It runs on the loop's thread, when a round begins; its tree is merged with those
// of the resident method and of the drafters. Only for greedy and coupled requests.
#pragma once

#include "common/messages/by_rule.h"
#include "common/messages/shown_names.h"
#include "common/speculation/calibration.h"
#include "common/speculation/stop_rule.h"
#include "services/verifier/counters.h"
#include "services/verifier/grammar_guide.h"

namespace slipstream {

// Where at most so many tokens are allowed, each is guessed.
inline constexpr int kGuessedTokensMax = 4;

// The likeliest nodes first, within the rule. A token that is one of k allowed ones has the chance
// 1 / k behind its parent.
TokenTree grammar_tree(GrammarGuide& guide, const StopRule& rule);

// What the verifier knows of this method over all sequences.
struct GrammarDraft {
  DraftKind kind{.method = std::string(kGrammarMethod), .model = {}};  // in metrics
  ByRule<Calibration> calibrations;
};

}  // namespace slipstream
