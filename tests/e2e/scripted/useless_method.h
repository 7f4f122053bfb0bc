// Drafts full trees that are never right and cost no time to make: what a hostile or broken peer
// can do within the rules.
#pragma once

#include <algorithm>
#include <vector>

#include "common/drafting/method.h"

namespace slipstream {

class UselessMethod final : public Method {
 public:
  explicit UselessMethod(int32_t vocabulary) {
    // Far apart and none twice: the target would have to say one of these, in this order.
    for (int i = 0; i < kTreeNodesMax; ++i) tokens_.push_back((vocabulary / 2 + 7919 * i) % vocabulary);
  }
  std::string_view name() const override { return "useless"; }
  void begin(const DraftKey&, const GenerationSpec&) override {}
  void advance(const DraftKey&, std::span<const TokenId>) override {}
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override {
    std::vector<Draft> trees;
    for (const DraftAsk& ask : asks) {
      const auto length = static_cast<size_t>(std::min(ask.rule.nodes_max, ask.rule.depth_max));
      trees.push_back(DraftTree(TokenTree::chain(std::span(tokens_).first(std::min(length, tokens_.size())), 0.99F)));
    }
    return trees;
  }
  void end(const DraftKey&) override {}

 private:
  std::vector<TokenId> tokens_;
};

}  // namespace slipstream
