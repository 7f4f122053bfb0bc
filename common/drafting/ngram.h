// Drafts what followed the last few tokens when they occurred in this sequence before (prompt
// look-up decoding). No weights, no logits: microseconds a tree. Good where an answer repeats its
// prompt (edit, extract, code), silent elsewhere.
#pragma once

#include <array>
#include <unordered_map>

#include "common/drafting/method.h"
#include "common/speculation/ngram_index.h"

namespace slipstream {

// How often the target agrees with the next token of a match, by the match's length in tokens: a
// longer match is surer. Starting guesses; a node's survival is the product along its path.
inline constexpr std::array<float, kNgramMax - kNgramMin + 1> kNgramConfidence{0.45F, 0.60F, 0.72F, 0.82F};
static_assert(kNgramMin == 2 && kNgramMax == 5, "one confidence a match length");

class NgramMethod final : public Method {
 public:
  std::string_view name() const override { return "ngram"; }
  bool quick() const override { return true; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override;
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override;

 private:
  struct Sequence {
    NgramIndex index;
    bool sampled = false;  // its rule asks for distributions: a look-up is certain of its token
  };
  std::unordered_map<DraftKey, Sequence> sequences_;
};

}  // namespace slipstream
