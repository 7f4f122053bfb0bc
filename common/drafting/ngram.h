// Prompt look-up decoding: guesses what followed the last few tokens of a sequence earlier in it,
// in earlier answers to the same tenant, or in a corpus (speculation/ngram_guess.h,
// look_up_texts.h), as a tree that grows best-first. Of a coupled request it ranks what it finds by
// the request's own noise (sampling/win_chance.h). It has no model and takes microseconds a tree.
// It helps where an answer repeats its prompt, itself or an earlier answer (edits, extraction,
// code, lists, agents, templates) or is like the corpus; elsewhere its survivals are small and its
// trees are short or empty.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/drafting/look_up_texts.h"
#include "common/drafting/method.h"
#include "common/speculation/ngram_counts.h"
#include "kernels/exact/noise.h"

namespace slipstream {

class NgramMethod final : public Method {
 public:
  explicit NgramMethod(std::shared_ptr<LookUpTexts> texts = std::make_shared<LookUpTexts>())
      : texts_(std::move(texts)), corpora_(texts_->corpora()) {}

  std::string_view name() const override { return "ngram"; }
  bool quick() const override { return true; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override;
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override;
  MethodWork work() const override {
    return {.remembered_tokens = static_cast<uint64_t>(texts_->tenants().tokens()),
            .forgotten_tenants = texts_->tenants().forgotten()};
  }

 private:
  struct Sequence {
    NgramCounts text;
    TenantId tenant = kNoTenant;  // whose texts it finds and joins
    int32_t prompt_length = 0, length = 0;
    bool sampled = false;                // its rule needs distributions: a chain, each token with probability 1
    std::optional<NoiseKey> noise = {};  // of a coupled request, but for the position
  };
  TenantId tenant_of(const GenerationSpec& spec) const;

  std::shared_ptr<LookUpTexts> texts_;
  std::vector<SortedText> corpora_;
  std::unordered_map<DraftKey, Sequence> sequences_;
};

}  // namespace slipstream
