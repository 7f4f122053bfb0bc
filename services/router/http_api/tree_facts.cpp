#include "services/router/http_api/tree_facts.h"

#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/text/utf8.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

using Json = nlohmann::ordered_json;

// A model may have more rows than its tokenizer has tokens. The other rows have no bytes.
TreeFacts facts_of(TreeReport report, const Tokenizer& tokenizer) {
  const auto text = [&](TokenId id) { return std::string(tokenizer.piece(id).value_or("")); };
  TreeFacts facts{.report = std::move(report), .texts = {}, .own_text = {}};
  for (const ReportedNode& node : facts.report.nodes) facts.texts.push_back(text(node.token));
  if (facts.report.own >= 0) facts.own_text = text(facts.report.own);
  return facts;
}

ApiResult<void> bound_trees(const GenerationRequest& request, size_t prompts) {
  const size_t choices = prompts * static_cast<size_t>(request.choices),
               trees = choices * static_cast<size_t>(request.spec.trees);
  if (trees <= static_cast<size_t>(kTreesToldMax)) return {};
  return std::unexpected(bad_field(
      "slipstream.trees", fmt::format("`slipstream.trees` asks for {} trees of each of {} choices; the limit is {} of all "
                                      "together. Ask for fewer, or send fewer prompts.",
                                      request.spec.trees, choices, kTreesToldMax)));
}

void end_behind(TreeReport& report, int32_t tokens) {
  int32_t accepted = 0;
  std::vector<int32_t> depths;  // [nodes] of the token of the round that a node guesses
  for (ReportedNode& node : report.nodes) {
    depths.push_back(node.parent == kRoot ? 0 : depths[static_cast<size_t>(node.parent)] + 1);
    if (node.fate == NodeFate::accepted) ++accepted;
    const bool reached = node.fate == NodeFate::accepted || node.fate == NodeFate::rejected;
    if (reached && depths.back() >= tokens) node.fate = NodeFate::unreached;
  }
  if (accepted >= tokens) report.own = -1;
}

void keep_newest(std::vector<TreeFacts>& trees, int32_t most) {
  if (std::ssize(trees) > most) trees.erase(trees.begin(), trees.end() - most);
}

Json trees_json(const std::vector<TreeFacts>& trees) {
  const auto token = [](TokenId id, const std::string& text) { return Json{{"token_id", id}, {"text", lossy_utf8(text)}}; };
  Json all = Json::array();
  for (const TreeFacts& facts : trees) {
    Json proposers = Json::array(), nodes = Json::array();
    for (const Proposer& each : facts.report.proposers) proposers.push_back({{"method", each.method}, {"model", each.model}});
    for (size_t i = 0; i < facts.report.nodes.size(); ++i) {
      const ReportedNode& node = facts.report.nodes[i];
      Json& json = nodes.emplace_back(token(node.token, facts.texts[i]));
      json.update({{"parent", node.parent},
                   {"by", node.by},
                   {"chance", std::round(1000 * double{node.chance}) / 1000},
                   {"fate", name_of(node.fate)}});
    }
    const TokenId own = facts.report.own;
    all.push_back({{"index", facts.report.first_index},
                   {"proposers", std::move(proposers)},
                   {"nodes", std::move(nodes)},
                   {"own", own >= 0 ? token(own, facts.own_text) : Json(nullptr)}});
  }
  return all;
}

}  // namespace slipstream
