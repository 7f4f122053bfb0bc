// A round's draft is merged from the trees of its sources: the resident method and the sequence's
// drafter. Each source has its calibration, and learns from what became of its nodes.
#include <algorithm>
#include <utility>

#include "common/speculation/merged_tree.h"
#include "services/verifier/rounds.h"

namespace slipstream {
namespace {

// [nodes] that each is accepted; a child at most as likely as its parent.
std::vector<float> chances(const Calibration& calibration, const TokenTree& tree) {
  std::vector<float> chances;
  for (const TreeNode& node : tree.nodes()) {
    const float most = node.parent == kRoot ? 1.0F : chances[static_cast<size_t>(node.parent)];
    chances.push_back(std::min(calibration.chance(node.survival, tree.depth(static_cast<int>(chances.size()))), most));
  }
  return chances;
}

Reliability& reliability_of(std::vector<MethodReliability>& methods, const std::string& name) {
  for (MethodReliability& method : methods) {
    if (method.method == name) return method.reliability;
  }
  if (methods.size() < kDraftMethodsMax) return methods.emplace_back(name).reliability;
  if (methods.size() == kDraftMethodsMax) methods.emplace_back("other");
  return methods.back().reliability;
}

}  // namespace

// Null: the sequence's drafter has gone.
Calibration* Rounds::calibration_of(const VerifierSequence& sequence, bool resident) const {
  const Rule rule = sequence.spec.acceptance.rule;
  if (resident) return &resident_.calibrations().of(rule);
  DrafterLink* link = links_.find(sequence.drafting.drafter);
  return link == nullptr ? nullptr : &link->calibrations.of(rule);
}

// Where no survival has the chance that pays, nothing is drafted but probes.
void Rounds::draft_here(VerifierSequence& sequence) {
  SequenceDrafting& drafting = sequence.drafting;
  const float least = calibration_of(sequence, true)->survival_of(drafting.price);
  if (least > 1 && !drafting.probes(true)) return;
  const Tuning& tuning = drafting.tuning;
  const StopRule rule{.nodes_max = std::min<int>(tuning.nodes_max, kTreeNodesMax),
                      .depth_max = std::clamp(depth_left(sequence), 0, int{tuning.depth_max}),
                      .threshold = drafting.probes(true) ? 1.0F : std::min(tuning.threshold, 1.0F - least)};
  TokenTree tree = resident_.draft(sequence, rule);
  sequence.fates.arrive(static_cast<size_t>(tree.size()));
  merge_in(sequence, {.resident = true, .tree = std::move(tree)});
}

// The nodes of `source` are held already.
void Rounds::merge_in(VerifierSequence& sequence, DraftSource source) {
  DraftRound& draft = sequence.drafting.draft;
  const Calibration* calibration = calibration_of(sequence, source.resident);
  const std::vector<float> gains = chances(calibration == nullptr ? Calibration() : *calibration, source.tree);
  MergedTree merged = merge(draft.tree.tokens(), source.tree.with_survivals(gains));
  sequence.fates.settle(static_cast<size_t>(merged.shared), Fate::merged);
  sequence.fates.settle(static_cast<size_t>(merged.cut), Fate::trimmed);
  draft.tree = DraftTree(std::move(merged.tree));
  draft.sources.push_back(std::move(source));
}

// Of each source that probes, its likeliest first token.
std::vector<int32_t> Rounds::probes(const VerifierSequence& sequence) const {
  const DraftRound& draft = sequence.drafting.draft;
  std::vector<int32_t> nodes;
  for (const DraftSource& source : draft.sources) {
    if (!sequence.drafting.probes(source.resident) || source.tree.empty()) continue;
    const TreeNode& best = *std::ranges::max_element(
        source.tree.nodes(), {}, [](const TreeNode& node) { return node.parent == kRoot ? node.survival : -1; });
    if (const int node = draft.tree.tokens().child(kRoot, best.token); node >= 0) nodes.push_back(node);
  }
  return nodes;
}

// What became of each node is counted, and changes what the survivals of its sources mean. Returns
// what the sequence's drafter alone had guessed.
Rounds::Own Rounds::learn(VerifierSequence& sequence, const TokenTree& verified, std::span<const int32_t> path) {
  const std::vector<DraftSource>& sources = sequence.drafting.draft.sources;
  std::vector<int> guessed_by(static_cast<size_t>(verified.size()), 0);
  std::vector<std::vector<int32_t>> at;  // [sources] of each node of the source, in `verified`
  for (const DraftSource& source : sources) {
    for (const int32_t node : at.emplace_back(places(source.tree, verified))) {
      if (node >= 0) ++guessed_by[static_cast<size_t>(node)];
    }
  }
  const DrafterLink* link = links_.find(sequence.drafting.drafter);
  Own own;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& [resident, tree] = sources[i];
    if (!resident && link == nullptr) continue;
    Calibration& calibration = *calibration_of(sequence, resident);
    Reliability& reliability = reliability_of(counters_.methods, resident ? resident_.name() : link->method);
    const std::vector<float> predicted = chances(calibration, tree);
    for (int32_t node = 0; node < tree.size(); ++node) {
      const int32_t there = at[i][static_cast<size_t>(node)];
      if (there < 0) continue;  // it was cut
      const bool accepted = std::ranges::find(path, there) != path.end();
      reliability.verified(predicted[static_cast<size_t>(node)], accepted);
      calibration.verified(tree.nodes()[static_cast<size_t>(node)].survival, tree.depth(node), accepted);
      if (resident) {
        sequence.drafting.resident_unverified = 0;
      } else if (guessed_by[static_cast<size_t>(there)] == 1) {
        ++own.verified;
        own.accepted += accepted ? 1 : 0;
      }
    }
  }
  return own;
}

// Where no survival has that chance, no node pays, and the back-off asks for probes only.
void Rounds::set_price(VerifierSequence& sequence, float price) const {
  SequenceDrafting& drafting = sequence.drafting;
  const Calibration* calibration = calibration_of(sequence, false);
  const float least = calibration == nullptr ? 0 : calibration->survival_of(price);
  drafting.price = price;
  drafting.backoff.set_row_budget(least > 1 ? 0 : kTreeNodesMax);
  drafting.threshold = drafting.backoff.probes() || least > 1 ? 1.0F : 1.0F - least;
}

}  // namespace slipstream
