#include "common/sampling/logits_processor.h"

#include <algorithm>
#include <array>
#include <limits>

#include "common/base/check.h"
#include "common/base/limits.h"

namespace slipstream {
namespace {

constexpr size_t kRecent = kBadWordTokensMax - 1;  // output tokens that can match a bad word before its last token

bool within(std::span<const float> logits, TokenId id) { return id >= 0 && static_cast<size_t>(id) < logits.size(); }

// Masks a logit. NaN and +inf stay, because the chain must refuse their row.
void forbid(float& logit) {
  if (logit <= std::numeric_limits<float>::max()) logit = -std::numeric_limits<float>::infinity();
}

void forbid(std::span<float> logits, TokenId id) {
  if (within(logits, id)) forbid(logits[static_cast<size_t>(id)]);
}

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

void LogitsProcessor::adjust(std::span<float> logits, std::span<const TokenId> path) const {
  CHECK(path.size() <= kTreeDepthMax, "a path of {} tokens; a tree is at most {} deep", path.size(), kTreeDepthMax);
  if (how_.penalises()) penalise(logits, path);
  for (const LogitBias& each : how_.bias) {
    if (within(logits, each.id)) logits[static_cast<size_t>(each.id)] += each.bias;
  }
  mask(logits, path);
}

// Applies the masks to a row of zeros and looks for one that is left.
bool LogitsProcessor::leaves_a_token(int32_t vocabulary, const TokenMask* also) const {
  std::vector<float> row(static_cast<size_t>(vocabulary), 0.0F);
  mask(row, {});
  if (also != nullptr) allow_only(row, *also);
  return std::ranges::find(row, 0.0F) != row.end();
}

// The row's token would be the (output + path + 1)-th of the output.
void LogitsProcessor::mask(std::span<float> logits, std::span<const TokenId> path) const {
  if (output_ + static_cast<int32_t>(path.size()) < how_.min_tokens) {
    for (const TokenId id : how_.stop_ids) forbid(logits, id);
  }
  if (!how_.bad_words.empty()) mask_bad_words(logits, path);
  if (!how_.allowed.empty()) allow_only(logits, how_.allowed);
}

// In double, rounded to float once. Products of two floats are exact in double, so the bits do not
// depend on whether a compiler contracts them with the additions.
float LogitsProcessor::penalised(float logit, int32_t times) const {
  const double repetition = how_.repetition_penalty;
  double result = logit > 0 ? logit / repetition : logit * repetition;
  if (times > 0) result = (result - static_cast<double>(how_.frequency_penalty) * times) - how_.presence_penalty;
  return static_cast<float>(result);
}

// A token on the path counts once more than the sequence's own count says. So the logits of the
// path's tokens are saved, the penalties of the sequence applied to all its tokens, and then those
// of the path computed again from the saved logits. The path is short, so it is searched linearly
// and on the stack.
void LogitsProcessor::penalise(std::span<float> logits, std::span<const TokenId> path) const {
  struct OnPath {
    TokenId id;
    int32_t times;
    float logit;
  };
  std::array<OnPath, kTreeDepthMax> storage;
  size_t count = 0;
  for (const TokenId id : path) {
    if (!within(logits, id)) continue;
    const auto known = std::span(storage).first(count);
    const auto at = std::ranges::find(known, id, &OnPath::id);
    if (at != known.end()) {
      ++at->times;
    } else {
      storage[count++] = {id, token_counts_.times(id) + 1, logits[static_cast<size_t>(id)]};
    }
  }
  for (const TokenCounts::Seen& seen : token_counts_.seen()) {
    if (!within(logits, seen.id)) break;
    float& logit = logits[static_cast<size_t>(seen.id)];
    logit = penalised(logit, seen.times);
  }
  for (const OnPath& own : std::span(storage).first(count)) {
    logits[static_cast<size_t>(own.id)] = penalised(own.logit, own.times);
  }
}

// Forbids the last token of each bad word whose other tokens stand just before the row's token.
void LogitsProcessor::mask_bad_words(std::span<float> logits, std::span<const TokenId> path) const {
  std::array<TokenId, kRecent + kTreeDepthMax> storage;
  const auto middle = std::ranges::copy(recent_, storage.begin()).out;
  const auto end = std::ranges::copy(path, middle).out;
  const std::span behind(storage.begin(), end);
  for (const std::vector<TokenId>& word : how_.bad_words) {
    const auto prefix = std::span(word).first(word.size() - 1);
    if (prefix.size() <= behind.size() && std::ranges::equal(prefix, behind.last(prefix.size()))) forbid(logits, word.back());
  }
}

void allow_only(std::span<float> logits, std::span<const TokenId> allowed) {
  size_t next = 0;  // the first token that is not decided yet
  for (const TokenId id : allowed) {
    if (!within(logits, id)) break;
    for (; next < static_cast<size_t>(id); ++next) forbid(logits[next]);
    next = static_cast<size_t>(id) + 1;
  }
  for (; next < logits.size(); ++next) forbid(logits[next]);
}

}  // namespace slipstream
