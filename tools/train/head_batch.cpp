#include "tools/train/head_batch.h"

#include <algorithm>
#include <set>

#include <ATen/ops/empty.h>

#include "tools/train/compute_device.h"

namespace slipstream::train {

HeadBatch HeadBatch::on(at::Device device) const {
  HeadBatch there = *this;
  for (at::Tensor* tensor : {&there.features, &there.tokens, &there.extra, &there.rows}) {
    *tensor = tensor->to(device, /*non_blocking=*/true);
  }
  return there;
}

namespace {

template <class Number>
at::Tensor staged(const std::vector<Number>& numbers, at::Device device) {
  at::Tensor values = at::empty({static_cast<int64_t>(numbers.size())}, staging(device, at::kLong));
  std::ranges::copy(numbers, values.mutable_data_ptr<int64_t>());
  return values;
}

}  // namespace

HeadBatcher::HeadBatcher(const HeadConfig& config, const HeadData& data, int steps, at::Device device, int32_t extra_tokens)
    : data_(data),
      cols_(config.width() + config.target.hidden),
      steps_(steps),
      vocabulary_(static_cast<int64_t>(config.vocabulary.size())),
      extra_tokens_(static_cast<size_t>(extra_tokens)),
      device_(device),
      index_(static_cast<size_t>(config.target.vocabulary), -1) {
  for (size_t i = 0; i < config.vocabulary.size(); ++i) {
    index_[static_cast<size_t>(config.vocabulary[i])] = static_cast<int64_t>(i);
  }
}

// Of each chat the target's choices, which it can learn to draft, then what was said, the latest
// first; not what comes behind its last row. Their number is filled up to whole rows, by the last
// tokens of the vocabulary.
std::vector<TokenId> HeadBatcher::extra_of(std::span<const FeatureDocument* const> documents) const {
  if (extra_tokens_ == 0) return {};
  std::set<TokenId> all;
  for (const FeatureDocument* document : documents) {
    std::set<TokenId> own;
    const size_t rows = document->tokens.size() - 1;
    for (const auto tokens : {document->choices.first(rows), document->tokens.last(rows)}) {
      for (auto token = tokens.rbegin(); token != tokens.rend() && own.size() < extra_tokens_; ++token) {
        if (*token >= 0 && index_[static_cast<size_t>(*token)] < 0) own.insert(*token);
      }
    }
    all.merge(own);
  }
  const auto size = static_cast<size_t>(whole_rows(static_cast<int64_t>(all.size())));
  for (size_t token = index_.size(); token-- > 0 && all.size() < size;) {
    if (index_[token] < 0) all.insert(static_cast<TokenId>(token));
  }
  return {all.begin(), all.end()};
}

// The last token predicts nothing of the chat.
HeadBatch::Chat HeadBatcher::chat_of(const FeatureDocument& document, int64_t first, std::span<const TokenId> extra) const {
  HeadBatch::Chat chat{.answer = document.answer - 1 - first, .choice = {}, .next = {}};
  const auto index = [&](TokenId token) {
    const int64_t drafted = index_[static_cast<size_t>(token)];
    const auto other = std::ranges::lower_bound(extra, token);
    return drafted < 0 && other != extra.end() && *other == token ? vocabulary_ + (other - extra.begin()) : drafted;
  };
  for (size_t at = static_cast<size_t>(first); at + 1 < document.tokens.size(); ++at) {
    // Before the answer the target's choices are not known.
    const TokenId choice = document.choices[at];
    chat.choice.push_back(choice < 0 ? -1 : index(choice));
    chat.next.push_back(index(document.tokens[at + 1]));
  }
  return chat;
}

Result<HeadBatch> HeadBatcher::of(std::span<const FeatureDocument* const> documents) const {
  HeadBatch batch;
  int64_t tokens = 0, answer = documents.front()->answer;
  for (const FeatureDocument* document : documents) {
    tokens = std::max(tokens, static_cast<int64_t>(document->tokens.size()) - 1);
    answer = std::min(answer, document->answer);
  }
  const auto count = static_cast<int64_t>(documents.size());
  tokens = whole_rows(tokens);
  batch.first = std::max<int64_t>(0, answer - steps_) / kRowsTogether * kRowsTogether;
  batch.features = at::empty({count, tokens, cols_}, staging(device_, at::kBFloat16));
  batch.tokens = at::empty({count, tokens}, staging(device_, at::kLong));
  const std::vector<TokenId> extra = extra_of(documents);
  batch.extra = staged(extra, device_);
  std::vector<uint16_t> room;
  for (int64_t i = 0; i < count; ++i) {
    const FeatureDocument& document = *documents[static_cast<size_t>(i)];
    const auto size = document.tokens.size() - 1;
    TRY(const std::span<const uint16_t> features, data_.features(document, room));
    auto* feature = static_cast<uint16_t*>(batch.features.mutable_data_ptr()) + i * tokens * cols_;
    auto* token = batch.tokens.mutable_data_ptr<int64_t>() + i * tokens;
    std::fill(std::ranges::copy(features.first(size * static_cast<size_t>(cols_)), feature).out, feature + tokens * cols_, 0);
    std::fill(std::ranges::copy(document.tokens.first(size), token).out, token + tokens, 0);
    batch.chats.push_back(chat_of(document, batch.first, extra));
  }
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i) {
    const HeadBatch::Chat& chat = batch.chats[static_cast<size_t>(i)];
    // A row of the last step reads rows of all steps before it.
    for (int64_t row = std::max(chat.answer, steps_ - 1); row < static_cast<int64_t>(chat.choice.size()); ++row) {
      if (chat.choice[static_cast<size_t>(row)] >= 0) rows.push_back(i * (tokens - batch.first) + row);
    }
  }
  batch.rows = staged(rows, device_);
  return batch;
}

}  // namespace slipstream::train
