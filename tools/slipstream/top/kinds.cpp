#include "tools/slipstream/top/kinds.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "common/metrics/names.h"

namespace slipstream::command::top {
namespace {

using namespace metric;

std::pair<std::string, std::string> kind_of(const Sample& sample) {
  return {std::string(sample.label("method")), std::string(sample.label("model"))};
}

DepthFigures& at_depth(std::vector<DepthFigures>& depths, std::string_view depth) {
  const auto at = std::ranges::find(depths, depth, &DepthFigures::depth);
  return at != depths.end() ? *at : depths.emplace_back(DepthFigures{.depth = std::string(depth)});
}

}  // namespace

void Verified::add(const Scrape& page, const Scrape* more) {
  add_gauges(page);
  if (more != nullptr) add_growth(*more);
}

void Verified::add_gauges(const Scrape& page) {
  ++pages_;
  node_price_ += page.sum(kVerifierNodePrice.name);
  for (const Sample& sample : page.samples()) {
    if (sample.name == kVerifierDrafters.name) {
      Kind& kind = kinds_[kind_of(sample)];
      kind.drafters += sample.value;
    } else if (sample.name == kVerifierDraftGain.name) {
      Kind& kind = kinds_[kind_of(sample)];
      Mean& gain = sample.label("rule") == "greedy" ? kind.greedy_gain : kind.sampled_gain;
      gain.sum += sample.value;
      ++gain.pages;
    }
  }
}

void Verified::add_growth(const Scrape& more) {
  grown_ = true;
  trees_ += more.sum(fmt::format("{}_count", kVerifierAcceptedNodes.name));
  accepted_ += more.sum(fmt::format("{}_sum", kVerifierAcceptedNodes.name));
  for (const Sample& sample : more.samples()) {
    const auto is = [&](const MetricName& metric) { return sample.name == metric.name; };
    if (is(kVerifierDraftAsks)) {
      Kind& kind = kinds_[kind_of(sample)];
      kind.rounds += sample.value;
      if (sample.label("asked") == "yes") kind.asked += sample.value;
    }
    if (is(kVerifierKindNodes)) kinds_[kind_of(sample)].verified += sample.value;
    if (is(kVerifierKindAccepted)) kinds_[kind_of(sample)].accepted += sample.value;
    if (is(kVerifierDepthNodes)) at_depth(depths_, sample.label("depth")).verified += sample.value;
    if (is(kVerifierDepthAccepted)) at_depth(depths_, sample.label("depth")).accepted += sample.value;
  }
}

Figure Verified::tokens_a_step() const {
  const Figure accepted = ratio(accepted_, trees_);
  return accepted ? Figure(1 + *accepted) : std::nullopt;
}

std::vector<DepthFigures> Verified::depths() const {
  std::vector<DepthFigures> shown;
  std::ranges::copy_if(depths_, std::back_inserter(shown), [](const DepthFigures& depth) { return depth.verified > 0; });
  return shown;
}

std::vector<KindFigures> Verified::kinds(double seconds) const {
  std::vector<KindFigures> figures;
  for (const auto& [name, kind] : kinds_) {
    const double span = grown_ ? seconds : 0;
    figures.push_back({.name = kind_name(name.first, name.second),
                       .drafters = kind.drafters,
                       .asked_per_s = ratio(kind.asked, span),
                       .asked_share = ratio(kind.asked, kind.rounds),
                       .accepted_per_s = ratio(kind.accepted, span),
                       .node_gain = ratio(kind.accepted, kind.verified),
                       .node_cost = ratio(node_price_, pages_),
                       .greedy_gain = ratio(kind.greedy_gain.sum, kind.greedy_gain.pages),
                       .sampled_gain = ratio(kind.sampled_gain.sum, kind.sampled_gain.pages)});
  }
  return figures;
}

}  // namespace slipstream::command::top
