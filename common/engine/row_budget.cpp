#include "common/engine/row_budget.h"

#include <algorithm>

namespace slipstream {
namespace {

struct Node {
  size_t sequence = 0;
  double gain = 0;  // expected tokens
};

}  // namespace

std::vector<int> split_row_budget(std::span<const DraftCandidate> sequences, StepLoad roots, const CostModel& cost) {
  std::vector<Node> nodes;
  for (size_t i = 0; i < sequences.size(); ++i) {
    double gain = 1;
    for (int node = 0; node < sequences[i].nodes_max; ++node) nodes.push_back({i, gain *= sequences[i].alpha});
  }
  // Stable: a sequence's nodes stay in order even with alpha 1, so its first n nodes are a prefix
  // of its tree.
  std::ranges::stable_sort(nodes, std::ranges::greater(), &Node::gain);

  // The cost has steps, so speed may fall and rise again: try every n. A node adds a row and its
  // pairs, but no reads, since its sequence reads the context anyway.
  double tokens = static_cast<double>(sequences.size()), best = tokens / cost.seconds(roots);
  size_t taken = 0;
  StepLoad step = roots;
  for (size_t i = 0; i < nodes.size(); ++i) {
    ++step.rows;
    step.pairs += sequences[nodes[i].sequence].visible;
    tokens += nodes[i].gain;
    if (const double speed = tokens / cost.seconds(step); speed > best) {
      best = speed;
      taken = i + 1;
    }
  }
  std::vector<int> shares(sequences.size(), 0);
  for (const Node& node : std::span(nodes).first(taken)) ++shares[node.sequence];
  return shares;
}

}  // namespace slipstream
