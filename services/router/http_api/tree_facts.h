// `slipstream.trees` of an answer: the draft trees of its last rounds, with their tokens' text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/messages/tree_report.h"
#include "common/text/tokenizer.h"

namespace slipstream {

struct TreeFacts {
  TreeReport report;
  std::vector<std::string> texts;  // [nodes] bytes, which may be part of a character
  std::string own_text;            // of the report's `own`
};

// Drops the oldest beyond `most`.
void keep_newest(std::vector<TreeFacts>& trees, int32_t most);

TreeFacts facts_of(TreeReport report, const Tokenizer& tokenizer);
nlohmann::ordered_json trees_json(const std::vector<TreeFacts>& trees);

}  // namespace slipstream
