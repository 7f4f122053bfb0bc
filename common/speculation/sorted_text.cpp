#include "common/speculation/sorted_text.h"

#include <algorithm>
#include <compare>

#include "common/speculation/ngram_counts.h"

namespace slipstream {
namespace {

// Compares the tokens before two positions, the nearest first, up to kNgramMax. What is behind an
// end of a text, or the beginning of all, is the same to both: nothing narrows down to it.
std::strong_ordering compare(std::span<const TokenId> tokens, uint32_t one, uint32_t other) {
  for (uint32_t n = 1; n <= static_cast<uint32_t>(kNgramMax); ++n) {
    const TokenId of_one = n <= one ? tokens[one - n] : kTextEnd;
    const TokenId of_other = n <= other ? tokens[other - n] : kTextEnd;
    if (of_one != of_other) return of_one <=> of_other;
    if (of_one == kTextEnd) break;
  }
  return one <=> other;
}

}  // namespace

std::vector<uint32_t> SortedText::sort(std::span<const TokenId> tokens) {
  std::vector<uint32_t> order;
  for (uint32_t at = 1; at < tokens.size(); ++at) {
    if (tokens[at - 1] != kTextEnd) order.push_back(at);
  }
  std::ranges::sort(order, [&](uint32_t one, uint32_t other) { return compare(tokens, one, other) < 0; });
  return order;
}

SortedText::Places SortedText::narrow(Places places, int n, TokenId token) const {
  const auto before = [&](uint32_t at) {
    const uint32_t distance = static_cast<uint32_t>(n) + 1;
    return distance <= at ? tokens_[at - distance] : kTextEnd;
  };
  const auto found = std::ranges::equal_range(places, token, {}, before);
  return {found.begin(), found.end()};
}

float SortedText::count(Places places, std::vector<Ranked>& counts) const {
  const size_t looked_at = std::min(places.size(), size_t{kOccurrencesMax});
  for (size_t i = 0; i < looked_at; ++i) {
    const TokenId token = tokens_[places[i * places.size() / looked_at]];
    if (token != kTextEnd) ++entry_of(counts, token);
  }
  return static_cast<float>(looked_at);
}

}  // namespace slipstream
