#include "common/sampling/row_edits.h"

#include <algorithm>

namespace slipstream {
namespace {

constexpr size_t kBits = 32;
constexpr uint32_t kAll = ~uint32_t{0};

size_t words(int32_t vocabulary) { return (static_cast<size_t>(vocabulary) + kBits - 1) / kBits; }

void allow_all(RowEdits& edits) {
  if (edits.allowed.empty()) edits.allowed.assign(words(edits.vocabulary), kAll);
}

void mask(std::span<const uint32_t> allowed, std::span<float> logits) {
  for (size_t word = 0; word < allowed.size(); ++word) {
    if (allowed[word] == kAll) continue;
    const std::span<float> tokens = logits.subspan(word * kBits, std::min(kBits, logits.size() - word * kBits));
    for (size_t bit = 0; bit < tokens.size(); ++bit) {
      tokens[bit] = (allowed[word] >> bit & 1) == 0 ? forbidden(tokens[bit]) : tokens[bit];
    }
  }
}

}  // namespace

void RowEdits::begin(int32_t tokens) {
  vocabulary = tokens;
  penalties.clear();
  biases.clear();
  allowed.clear();
}

void RowEdits::forbid(TokenId token) {
  if (!has(token)) return;
  allow_all(*this);
  const auto at = static_cast<size_t>(token);
  allowed[at / kBits] &= ~(uint32_t{1} << at % kBits);
}

// Keeps, word by word, the bits of its tokens alone.
void RowEdits::allow_only(std::span<const TokenId> ascending) {
  allow_all(*this);
  auto next = ascending.begin();
  for (size_t word = 0; word < allowed.size(); ++word) {
    uint32_t kept = 0;
    for (; next != ascending.end() && static_cast<size_t>(*next) / kBits == word; ++next) kept |= uint32_t{1} << *next % kBits;
    allowed[word] &= kept;
  }
}

void RowEdits::allow_only(const TokenMask& mask) {
  allow_all(*this);
  for (size_t word = 0; word < allowed.size(); ++word) allowed[word] &= word < mask.words().size() ? mask.words()[word] : 0;
}

void RowEdits::forbid_all() { allowed.assign(words(vocabulary), 0); }

bool RowEdits::allows_any() const {
  for (size_t word = 0; word < allowed.size(); ++word) {
    const size_t tokens = std::min(kBits, static_cast<size_t>(vocabulary) - word * kBits);  // of this word
    if ((allowed[word] & kAll >> (kBits - tokens)) != 0) return true;
  }
  return allowed.empty() && vocabulary > 0;
}

void RowEdits::apply(std::span<float> logits) const {
  for (const LogitEdit& edit : penalties) {
    float& logit = logits[static_cast<size_t>(edit.token)];
    logit = edited(logit, edit);
  }
  for (const LogitEdit& edit : biases) {
    float& logit = logits[static_cast<size_t>(edit.token)];
    logit = edited(logit, edit);
  }
  mask(allowed, logits);
}

}  // namespace slipstream
