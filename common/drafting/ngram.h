// Prompt look-up decoding: guesses what followed the last few tokens of a sequence earlier in it
// (speculation/ngram_counts.h), as a tree that grows best-first. It has no model and takes
// microseconds a tree. It helps where an answer repeats its prompt or itself (edits, extraction,
// code, lists); elsewhere its survivals are small and its trees are short or empty.
#pragma once

#include <unordered_map>

#include "common/drafting/method.h"
#include "common/speculation/ngram_counts.h"

namespace slipstream {

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
    NgramCounts text;
    bool sampled = false;  // its rule needs distributions: a chain, each token with probability 1
  };
  std::unordered_map<DraftKey, Sequence> sequences_;
};

}  // namespace slipstream
