// Prompt look-up decoding: finds where the last few tokens of a sequence occurred in it before, and
// drafts the chain that followed there. It has no model and takes microseconds a tree. It helps
// where an answer repeats its prompt (edits, extraction, code); elsewhere its trees are empty.
#pragma once

#include <array>
#include <unordered_map>

#include "common/drafting/method.h"
#include "common/speculation/ngram_index.h"

namespace slipstream {

// [match length - kNgramMin] The assumed probability that the target agrees with the next token of
// a match. A longer match is more reliable. A node's survival is the product along its path.
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
    bool sampled = false;  // its rule needs distributions; a look-up gives its token probability 1
  };
  std::unordered_map<DraftKey, Sequence> sequences_;
};

}  // namespace slipstream
