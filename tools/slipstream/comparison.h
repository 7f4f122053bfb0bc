// The same question answered with drafts and plainly: how fast each was, and whether the words are the same.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/slipstream/answer.h"

namespace slipstream::command {

struct Comparison {
  std::string name;
  Answer drafted, plain;
  std::optional<Answer> bereaved;  // whose drafter died on the way: not timed, but its words count
};

std::string table(std::span<const Comparison> comparisons);
bool same_words(std::span<const Comparison> comparisons);
// "same words: yes, 256 of 256 tokens". Tokens are compared place by place; a longer answer's rest counts as different.
std::string verdict(std::span<const Comparison> comparisons);

}  // namespace slipstream::command
