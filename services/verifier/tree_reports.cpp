#include "services/verifier/tree_reports.h"

#include <algorithm>
#include <utility>

#include "common/speculation/merged_tree.h"

namespace slipstream {
namespace {

static_assert(static_cast<int>(NodeFate::accepted) == static_cast<int>(NodeOutcome::accepted) &&
              static_cast<int>(NodeFate::rejected) == static_cast<int>(NodeOutcome::rejected) &&
              static_cast<int>(NodeFate::unreached) == static_cast<int>(NodeOutcome::unreached));

// At most `bytes` of a name in UTF-8, and no part of a character.
void cut(std::string& name, size_t bytes) {
  if (name.size() <= bytes) return;
  const auto continues = [&](size_t at) { return (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80; };
  while (bytes > 0 && continues(bytes)) --bytes;
  name.resize(bytes);
}

class Writing {
 public:
  explicit Writing(TreeReport& report) : report_(report) {}

  void add_verified(const VerifiedRound& round, int accepted) {
    const std::vector<NodeOutcome> outcomes = slipstream::outcomes(round.tree, round.walk, accepted);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const TreeNode& node = round.tree.nodes()[i];
      report_.nodes.push_back({node.token, node.parent, node.survival, kNobody, static_cast<NodeFate>(outcomes[i])});
    }
  }

  void add_proposal(const Proposal& proposal, const TokenTree& verified) {
    uint8_t by = kNobody;  // it is named with its first node
    const std::vector<int32_t> at = places(proposal.tree, verified);
    std::vector<int32_t> here;  // [nodes of the proposal] in the report; -1: it is not there
    for (int32_t i = 0; i < proposal.tree.size(); ++i) {
      const TreeNode& node = proposal.tree.nodes()[static_cast<size_t>(i)];
      const int32_t parent = node.parent == kRoot ? kRoot : here[static_cast<size_t>(node.parent)];
      const bool has_parent = node.parent == kRoot || parent >= 0;
      here.push_back(at[static_cast<size_t>(i)] >= 0 ? at[static_cast<size_t>(i)] : has_parent ? trimmed(node, parent) : -1);
      if (here.back() < 0) continue;
      uint8_t& credited = report_.nodes[static_cast<size_t>(here.back())].by;
      if (credited != kNobody) continue;
      if (by == kNobody) by = named(proposal.by);
      credited = by;
    }
  }

  void add_nobodys(const Proposer& proposer) {
    for (ReportedNode& node : report_.nodes) {
      if (node.by == kNobody) node.by = named(proposer);
    }
  }

 private:
  static constexpr uint8_t kNobody = kProposersMax;  // until a proposal has the node

  // The node that was cut, which another proposal may have added already; -1: there is no room.
  int32_t trimmed(const TreeNode& node, int32_t parent) {
    const auto same = std::ranges::find_if(report_.nodes, [&](const ReportedNode& other) {
      return other.fate == NodeFate::trimmed && other.parent == parent && other.token == node.token;
    });
    if (same != report_.nodes.end()) return static_cast<int32_t>(same - report_.nodes.begin());
    if (report_.nodes.size() >= static_cast<size_t>(kTreeNodesMax)) return -1;
    report_.nodes.push_back({node.token, parent, node.survival, kNobody, NodeFate::trimmed});
    return static_cast<int32_t>(report_.nodes.size()) - 1;
  }

  // The last place stands for all proposers beyond the limit.
  uint8_t named(Proposer proposer) {
    cut(proposer.method, kProposerBytesMax);
    cut(proposer.model, kProposerBytesMax);
    std::vector<Proposer>& all = report_.proposers;
    const auto at = std::ranges::find(all, proposer);
    if (at != all.end()) return static_cast<uint8_t>(at - all.begin());
    if (all.size() < static_cast<size_t>(kProposersMax)) all.push_back(std::move(proposer));
    return static_cast<uint8_t>(all.size() - 1);
  }

  TreeReport& report_;
};

}  // namespace

TreeReport tree_report(const VerifiedRound& round, std::span<const Proposal> proposals) {
  const auto path = static_cast<int>(round.walk.accepted.size());
  const int accepted = std::min(round.emitted, path);
  TreeReport report{.first_index = round.first_index, .own = -1, .proposers = {}, .nodes = {}};
  if (round.emitted > path) report.own = round.walk.emitted.back();
  Writing writing(report);
  writing.add_verified(round, accepted);
  for (const Proposal& proposal : proposals) writing.add_proposal(proposal, round.tree);
  writing.add_nobodys(proposals.empty() ? Proposer{} : proposals.front().by);
  return report;
}

void TreeReports::add(TreeReport report, int32_t most) {
  kept_.push_back(std::move(report));
  if (kept_.size() > static_cast<size_t>(most)) kept_.erase(kept_.begin());
}

std::vector<TreeReport> TreeReports::of(int32_t from, int32_t end) const {
  const auto begin = std::ranges::lower_bound(kept_, from, {}, &TreeReport::first_index);
  return {begin, std::ranges::lower_bound(kept_, end, {}, &TreeReport::first_index)};
}

void TreeReports::acked(int32_t next) {
  kept_.erase(kept_.begin(), std::ranges::lower_bound(kept_, next, {}, &TreeReport::first_index));
}

}  // namespace slipstream
