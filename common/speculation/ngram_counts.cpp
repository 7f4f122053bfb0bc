#include "common/speculation/ngram_counts.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace slipstream {
namespace {

constexpr uint32_t kTokensAtFirst = 64;
constexpr int kLookedAtMax = 4 * kOccurrencesMax;  // entries of a list, of which some are of other n-grams

}  // namespace

uint64_t longer_hash(uint64_t hash, TokenId token) {
  hash = (hash ^ static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

float& entry_of(std::vector<Ranked>& counts, TokenId token) {
  const auto at = std::ranges::find(counts, token, &Ranked::token);
  return at != counts.end() ? at->confidence : counts.emplace_back(token, 0.0F).confidence;
}

NgramCounts::NgramCounts(int32_t tokens_max) : most_(std::bit_ceil(static_cast<Index>(std::max(tokens_max, 1)))) {
  resize(std::min(kTokensAtFirst, most_));
}

void NgramCounts::resize(Index tokens) {
  const std::vector<TokenId> text(tokens_.begin(), tokens_.begin() + static_cast<ptrdiff_t>(size_));
  tokens_.assign(tokens, 0);
  before_.assign(size_t{tokens} * kNgramMax, 0);
  newest_.assign(size_t{tokens} * kNgramMax, 0);
  mask_ = tokens - 1;
  size_ = 0;
  for (const TokenId token : text) add(token);
}

void NgramCounts::add(TokenId token) {
  tokens_[size_++ & mask_] = token;
  uint64_t hash = 0;
  for (int n = 1; n <= kNgramMax && held(size_, n); ++n) {
    hash = longer_hash(hash, at(size_ - static_cast<Index>(n)));
    before(size_, n) = std::exchange(newest(hash, n), size_);
  }
}

void NgramCounts::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) {
    if (size_ == tokens_.size() && size_ < most_) resize(2 * size_);
    add(token);
  }
}

NgramContext NgramCounts::context(std::span<const TokenId> path) const {
  NgramContext context;
  const auto add = [&](TokenId token) { context.tokens[static_cast<size_t>(context.length++)] = token; };
  for (size_t i = path.size(); i > 0 && context.length < kNgramMax; --i) add(path[i - 1]);
  for (Index i = size_; i > oldest() && context.length < kNgramMax; --i) add(at(i - 1));
  return context;
}

std::vector<TokenId> NgramCounts::tail(int32_t n) const {
  std::vector<TokenId> tokens;
  for (Index i = size_ - std::min(static_cast<Index>(n), size_ - oldest()); i < size_; ++i) tokens.push_back(at(i));
  return tokens;
}

float NgramCounts::count(const NgramContext& context, int n, uint64_t hash, std::vector<Ranked>& counts) const {
  float total = 0;
  Index behind = newest(hash, n);
  for (int looked_at = 0; looked_at < kLookedAtMax && total < kOccurrencesMax && held(behind, n); ++looked_at) {
    bool equal = behind < size_;  // the end of the text itself is followed by nothing
    for (int i = 0; equal && i < n; ++i)
      equal = at(behind - static_cast<Index>(i) - 1) == context.tokens[static_cast<size_t>(i)];
    if (equal) {
      if (at(behind) != kTextEnd) ++entry_of(counts, at(behind));
      ++total;
    }
    behind = before(behind, n);
  }
  return total;
}

}  // namespace slipstream
