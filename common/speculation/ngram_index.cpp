#include "common/speculation/ngram_index.h"

#include <algorithm>

namespace slipstream {
namespace {

constexpr size_t kEntriesAtFirst = 64;

// The length is part of the hash, since n-grams of all lengths share one table.
uint64_t hash_of(std::span<const TokenId> gram) {
  uint64_t hash = gram.size();
  for (TokenId token : gram) {
    hash = (hash ^ static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

// Linear probing. It ends, because at most half of the entries are full.
size_t NgramIndex::find(const std::vector<Entry>& table, int32_t end, int32_t length) const {
  const auto gram = std::span(tokens_).subspan(end - length, length);
  for (size_t at = hash_of(gram);; ++at) {
    const Entry& entry = table[at &= table.size() - 1];
    if (entry.length == 0) return at;
    if (entry.length == length && std::equal(gram.begin(), gram.end(), tokens_.begin() + (entry.latest - length))) return at;
  }
}

void NgramIndex::insert(std::vector<Entry>& table, const Entry& entry) const {
  table[find(table, entry.latest, entry.length)] = entry;
}

// Called for each end as it is appended, so the latest occurrence becomes the one before.
void NgramIndex::add_end(int length) {
  const auto end = static_cast<int32_t>(tokens_.size());
  Entry& entry = table_[find(table_, end, length)];
  if (entry.length == 0) ++entries_;
  entry = {.latest = end, .before = entry.latest, .length = length};
}

void NgramIndex::append(std::span<const TokenId> tokens) {
  for (TokenId token : tokens) {
    tokens_.push_back(token);
    // Grows before this token's n-grams are added, so that add_end() may keep a reference.
    if (2 * (entries_ + kNgramMax) > table_.size()) {
      std::vector<Entry> larger(std::max(kEntriesAtFirst, 2 * table_.size()));
      for (const Entry& entry : table_) {
        if (entry.length != 0) insert(larger, entry);
      }
      table_ = std::move(larger);
    }
    for (int length = kNgramMin; length <= kNgramMax && length <= static_cast<int>(tokens_.size()); ++length) add_end(length);
  }
}

// The latest occurrence of the n-gram at the end is the end itself, so `before` is the match.
NgramIndex::Match NgramIndex::match(int tokens_max) const {
  const auto size = static_cast<int32_t>(tokens_.size());
  for (int length = std::min(kNgramMax, size); length >= kNgramMin; --length) {
    const int32_t from = table_[find(table_, size, length)].before;
    if (from == 0) continue;
    Match match{.length = length, .following = {}};
    for (int32_t i = 0; i < tokens_max; ++i) {
      const int32_t source = from + i;
      match.following.push_back(source < size ? tokens_[source] : match.following[source - size]);
    }
    return match;
  }
  return {};
}

}  // namespace slipstream
