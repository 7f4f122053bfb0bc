// Prompt look-up decoding: guesses what followed the last few tokens of a sequence earlier in it,
// or in earlier answers to the same tenant (speculation/ngram_counts.h, tenant_texts.h), as a tree
// that grows best-first. Of a coupled request it ranks what it finds by the request's own noise
// (sampling/win_chance.h). It has no model and takes microseconds a tree. It helps where an answer
// repeats its prompt, itself or an earlier answer (edits, extraction, code, lists, agents,
// templates); elsewhere its survivals are small and its trees are short or empty.
#pragma once

#include <optional>
#include <unordered_map>

#include "common/drafting/method.h"
#include "common/drafting/tenant_texts.h"
#include "common/speculation/ngram_counts.h"
#include "kernels/exact/noise.h"

namespace slipstream {

// Where look-up looks.
enum class LookUp : uint8_t {
  own,     // in the request's own text
  tenant,  // and in what requests of the same tenant were answered
  all      // and in what all requests were answered: only where each client may see every other's text
};

LookUp look_up_of(std::string_view name);  // REQUIRES: one of kLookUpNames

class NgramMethod final : public Method {
 public:
  explicit NgramMethod(LookUp look_up = LookUp::tenant) : look_up_(look_up) {}

  std::string_view name() const override { return "ngram"; }
  bool quick() const override { return true; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override;
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override;
  MethodWork work() const override {
    return {.remembered_tokens = static_cast<uint64_t>(texts_.tokens()), .forgotten_tenants = texts_.forgotten()};
  }

 private:
  struct Sequence {
    NgramCounts text;
    TenantId tenant = kNoTenant;  // whose texts it finds and joins
    int32_t prompt_length = 0, length = 0;
    bool sampled = false;  // its rule needs distributions: a chain, each token with probability 1
    std::optional<NoiseKey> noise = {};  // of a coupled request, but for the position
  };
  TenantId tenant_of(const GenerationSpec& spec) const;

  LookUp look_up_;
  std::unordered_map<DraftKey, Sequence> sequences_;
  TenantTexts texts_;
};

}  // namespace slipstream
