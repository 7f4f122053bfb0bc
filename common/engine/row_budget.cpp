#include "common/engine/row_budget.h"

#include <algorithm>

namespace slipstream {
namespace {

struct Node {
  size_t sequence = 0;
  float gain = 0;  // expected tokens
};

}  // namespace

std::vector<float> chain_gains(double alpha, int nodes) {
  std::vector<float> gains;
  double gain = 1;
  for (int node = 0; node < nodes; ++node) gains.push_back(static_cast<float>(gain *= alpha));
  return gains;
}

std::vector<int> split_row_budget(std::span<const DraftCandidate> sequences, StepLoad roots, const CostModel& cost) {
  std::vector<Node> nodes;
  for (size_t i = 0; i < sequences.size(); ++i) {
    for (const float gain : sequences[i].gains) nodes.push_back({i, gain});
  }
  // Stable: a sequence's nodes stay in order even where they gain alike.
  std::ranges::stable_sort(nodes, std::ranges::greater(), &Node::gain);

  // The cost has steps, so speed may fall and rise again: try every n. A node adds a row and its
  // pairs, but no reads, since its sequence reads the context anyway.
  double tokens = roots.rows, best = tokens / cost.seconds(roots);
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

double node_price(StepLoad roots, int32_t visible, const CostModel& cost) {
  if (roots.rows == 0) return 0;
  StepLoad step = roots;
  step.rows += roots.rows;
  step.pairs += int64_t{visible} * roots.rows;
  const double plain = cost.seconds(roots);
  return (cost.seconds(step) - plain) / plain;
}

}  // namespace slipstream
