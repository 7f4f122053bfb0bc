// Drafts random valid trees: several children a node, random survival, up to the budget. Half of
// the tokens are ones that the sequence already holds, so that now and then a branch is right.
// Whatever it sends, no word of the output may change.
#pragma once

#include <random>
#include <unordered_map>
#include <vector>

#include "common/drafting/method.h"

namespace slipstream {

class RandomMethod final : public Method {
 public:
  RandomMethod(int32_t vocabulary, uint64_t seed) : vocabulary_(vocabulary), random_(seed) {}
  std::string_view name() const override { return "random"; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override;
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override;

 private:
  TokenTree grow(const std::vector<TokenId>& seen, const StopRule& rule);
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  int32_t vocabulary_;
  std::mt19937_64 random_;
  std::unordered_map<DraftKey, std::vector<TokenId>> sequences_;
};

}  // namespace slipstream
