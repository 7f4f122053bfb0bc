#include "tests/e2e/scripted/oracle_method.h"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

namespace slipstream {

Result<std::vector<KnownAnswer>> read_answers(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return fail("{}: give a JSON list of token lists, prompt and output together", file.string());
  std::vector<KnownAnswer> answers;
  try {
    for (const auto& entry : json) {
      KnownAnswer& answer = answers.emplace_back();
      (entry.is_array() ? entry : entry.at("tokens")).get_to(answer.tokens);
      if (entry.is_object() && entry.contains("seed")) answer.seed = entry.at("seed").get<uint64_t>();
    }
  } catch (const nlohmann::json::exception& exception) {
    return fail("{}: entry {} is no list of token ids: {}", file.string(), answers.size(), exception.what());
  }
  return answers;
}

void OracleMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  std::vector<TokenId>& all = sequences_[key].tokens;
  all.insert(all.end(), tokens.begin(), tokens.end());
}

Result<std::vector<Draft>> OracleMethod::draft(std::span<const DraftAsk> asks) {
  std::vector<Draft> trees;
  for (const DraftAsk& ask : asks) trees.push_back(DraftTree(continuation(sequences_[ask.key], ask.rule)));
  return trees;
}

// What it heard of a sequence may lack the last tokens, which no Advance brought; the next time it
// hears more.
void OracleMethod::end(const DraftKey& key) {
  const auto at = sequences_.find(key);
  if (at == sequences_.end()) return;
  const Sequence ended = std::move(at->second);
  sequences_.erase(at);
  const auto begins_it = [&](const KnownAnswer& answer) {
    return answer.spec == ended.spec && std::ranges::mismatch(answer.tokens, ended.tokens).in1 == answer.tokens.end();
  };
  std::erase_if(answers_, begins_it);
  if (answers_.size() < kAnswersMax) answers_.push_back({ended.tokens, std::nullopt, ended.spec});
}

TokenTree OracleMethod::continuation(const Sequence& sequence, const StopRule& rule) const {
  const auto fits = [&](const KnownAnswer& answer) {
    return (!answer.seed || *answer.seed == sequence.spec.seed) && (!answer.spec || *answer.spec == sequence.spec) &&
           answer.tokens.size() > sequence.tokens.size() &&
           std::equal(sequence.tokens.begin(), sequence.tokens.end(), answer.tokens.begin());
  };
  const auto answer = std::ranges::find_if(answers_, fits);
  if (answer == answers_.end()) return {};
  const auto rest = std::span(answer->tokens).subspan(sequence.tokens.size());
  const auto budget = static_cast<size_t>(std::min(rule.nodes_max, rule.depth_max));
  return TokenTree::chain(rest.first(std::min(rest.size(), budget)), 1.0F);
}

}  // namespace slipstream
