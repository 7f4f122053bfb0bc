#include "common/sampling/logits_processor.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/base/limits.h"

namespace slipstream {
namespace {

constexpr size_t kRecent = kBadWordTokensMax - 1;  // output tokens that can match a bad word before its last token

}  // namespace

void LogitsProcessor::add_prompt(std::span<const TokenId> tokens) {
  if (how_.penalises()) token_counts_.add_prompt(tokens);
}

void LogitsProcessor::add_output(std::span<const TokenId> tokens) {
  output_ += static_cast<int32_t>(tokens.size());
  if (how_.penalises()) token_counts_.add_output(tokens);
  if (how_.bad_words.empty()) return;
  recent_.insert(recent_.end(), tokens.begin(), tokens.end());
  if (recent_.size() > kRecent) recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(kRecent));
}

void LogitsProcessor::edit(std::span<const TokenId> path, RowEdits& edits) const {
  CHECK(path.size() <= kTreeDepthMax, "a path of {} tokens; a tree is at most {} deep", path.size(), kTreeDepthMax);
  if (how_.penalises()) penalise(path, edits);
  for (const LogitBias& each : how_.bias) {
    if (edits.has(each.id)) edits.biases.push_back({.token = each.id, .add = static_cast<double>(each.bias)});
  }
  mask(path, edits);
}

bool LogitsProcessor::leaves_a_token(int32_t vocabulary, const TokenMask* also) const {
  RowEdits edits;
  edits.begin(vocabulary);
  mask({}, edits);
  if (also != nullptr) edits.allow_only(*also);
  return edits.allows_any();
}

// The row's token would be the (output + path + 1)-th of the output.
void LogitsProcessor::mask(std::span<const TokenId> path, RowEdits& edits) const {
  if (output_ + static_cast<int32_t>(path.size()) < how_.min_tokens) {
    for (const TokenId id : how_.stop_ids) edits.forbid(id);
  }
  if (!how_.bad_words.empty()) mask_bad_words(path, edits);
  if (!how_.allowed.empty()) edits.allow_only(how_.allowed);
}

// times: occurrences in the output and on the path.
LogitEdit LogitsProcessor::penalty(TokenId token, int32_t times) const {
  LogitEdit edit{.token = token, .scale = how_.repetition_penalty};
  if (times > 0) edit.add = -(static_cast<double>(how_.frequency_penalty) * times + static_cast<double>(how_.presence_penalty));
  return edit;
}

// A token on the path counts once more than the sequence's own count says. The path is short, so it
// is searched linearly and on the stack.
void LogitsProcessor::penalise(std::span<const TokenId> path, RowEdits& edits) const {
  for (const TokenCounts::Seen& seen : token_counts_.seen()) {
    if (!edits.has(seen.id)) break;
    edits.penalties.push_back(penalty(seen.id, seen.times));
  }
  const auto seen = std::ssize(edits.penalties);  // ascending; those of the path that come behind are not
  std::array<TokenCounts::Seen, kTreeDepthMax> storage;
  size_t count = 0;
  for (const TokenId id : path) {
    if (!edits.has(id)) continue;
    const auto known = std::span(storage).first(count);
    const auto at = std::ranges::find(known, id, &TokenCounts::Seen::id);
    if (at == known.end()) storage[count++] = {id, token_counts_.times(id)};
    ++(at == known.end() ? storage[count - 1] : *at).times;
  }
  for (const TokenCounts::Seen& own : std::span(storage).first(count)) {
    const auto end = edits.penalties.begin() + seen;
    const auto at = std::ranges::lower_bound(edits.penalties.begin(), end, own.id, {}, &LogitEdit::token);
    const LogitEdit edit = penalty(own.id, own.times);
    if (at != end && at->token == own.id) {
      *at = edit;
    } else {
      edits.penalties.push_back(edit);
    }
  }
}

// Forbids the last token of each bad word whose other tokens stand just before the row's token.
void LogitsProcessor::mask_bad_words(std::span<const TokenId> path, RowEdits& edits) const {
  std::array<TokenId, kRecent + kTreeDepthMax> storage;
  const auto middle = std::ranges::copy(recent_, storage.begin()).out;
  const auto end = std::ranges::copy(path, middle).out;
  const std::span behind(storage.begin(), end);
  for (const std::vector<TokenId>& word : how_.bad_words) {
    const auto prefix = std::span(word).first(word.size() - 1);
    if (prefix.size() <= behind.size() && std::ranges::equal(prefix, behind.last(prefix.size()))) edits.forbid(word.back());
  }
}

}  // namespace slipstream
