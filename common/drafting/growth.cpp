#include "common/drafting/growth.h"

namespace slipstream {
namespace {

std::variant<TreeGrowth, SampledTreeBuilder> growth_of(const StopRule& rule, const Calibration* calibration,
                                                       const Acceptance& acceptance) {
  if (!is_sampled(acceptance.rule)) return TreeGrowth(rule, calibration);
  return SampledTreeBuilder({.stop = rule,
                             .root_children = acceptance.root_children,
                             .children = acceptance.children,
                             .replacement = acceptance.repeats ? Replacement::with : Replacement::without});
}

}  // namespace

Growth::Growth(const StopRule& rule, const Calibration* calibration, const Acceptance& acceptance,
               const CounterRandom::Key& key)
    : by_(growth_of(rule, calibration, acceptance)), random_(key, NoisePurpose::draft) {}

void Growth::sample(const std::function<std::span<const float>(size_t row)>& logits_of, const SamplingParams& sampling,
                    ChainScratch& scratch) {
  auto& builder = std::get<SampledTreeBuilder>(by_);
  std::vector<OwnedDistribution> distributions(builder.frontier().size());
  std::vector<TokenDistribution> views;
  for (size_t row = 0; row < distributions.size(); ++row) {
    draft_distribution(logits_of(row), sampling, scratch, distributions[row]);
    views.push_back(distributions[row].view());
  }
  builder.add(views, random_);
}

}  // namespace slipstream
