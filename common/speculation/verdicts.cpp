#include "common/speculation/verdicts.h"

#include "common/speculation/merged_tree.h"

namespace slipstream {

std::vector<TokenId> verdicts_on(const TokenTree& sent, const TokenTree& verified, std::span<const TokenId> choices) {
  std::vector<TokenId> verdicts{choices.front()};
  for (const int32_t node : places(sent, verified)) {
    verdicts.push_back(node < 0 ? kNoVerdict : choices[static_cast<size_t>(node) + 1]);
  }
  return verdicts;
}

void learn(std::span<const ProposedChild> proposed, std::span<const TokenId> verdicts, Calibration& calibration,
           DepthReliability& by_depth) {
  for (const ProposedChild& child : proposed) {
    const TokenId choice = verdicts[static_cast<size_t>(child.parent + 1)];
    if (choice == kNoVerdict) continue;
    const bool right = choice == child.token;
    calibration.verified(child.confidence, child.depth, right);
    by_depth.at(calibration_range(child.depth)).add(static_cast<double>(child.chance), right);
  }
}

}  // namespace slipstream
