#include "services/router/http_api/tree_facts.h"

#include <iterator>
#include <utility>

#include "common/text/utf8.h"

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
      json.update({{"parent", node.parent}, {"by", node.by}, {"chance", node.chance}, {"fate", name_of(node.fate)}});
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
