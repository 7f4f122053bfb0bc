#include "tools/train/head_batch.h"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "tools/train/compute_device.h"

namespace slipstream::train {
namespace {

at::Tensor staged(const std::vector<int64_t>& values, at::Device device) {
  const at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, staging(device, at::kLong));
  std::ranges::copy(values, tensor.mutable_data_ptr<int64_t>());
  return tensor;
}

}  // namespace

HeadBatch HeadBatch::on(at::Device device) const {
  HeadBatch there = *this;
  for (at::Tensor* tensor : {&there.features, &there.tokens, &there.rows, &there.place}) {
    *tensor = tensor->to(device, /*non_blocking=*/true);
  }
  return there;
}

HeadBatcher::HeadBatcher(const HeadConfig& config, const HeadData& data, int steps, at::Device device)
    : data_(data),
      cols_(config.width() + config.target.hidden),
      steps_(steps),
      device_(device),
      index_(static_cast<size_t>(config.target.vocabulary), -1) {
  for (size_t i = 0; i < config.vocabulary.size(); ++i) {
    index_[static_cast<size_t>(config.vocabulary[i])] = static_cast<int64_t>(i);
  }
}

// The last token predicts nothing of the chat.
HeadBatch::Chat HeadBatcher::chat_of(const FeatureDocument& document, int64_t first) const {
  HeadBatch::Chat chat{.answer = document.answer - 1 - first, .choice = {}, .next = {}};
  for (size_t at = static_cast<size_t>(first); at + 1 < document.tokens.size(); ++at) {
    // Before the answer the target's choices are not known.
    const TokenId choice = document.choices[at];
    chat.choice.push_back(choice < 0 ? -1 : index_[static_cast<size_t>(choice)]);
    chat.next.push_back(index_[static_cast<size_t>(document.tokens[at + 1])]);
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
  batch.first = std::max<int64_t>(0, answer - steps_);
  batch.features = at::zeros({count, tokens, cols_}, staging(device_, at::kBFloat16));
  batch.tokens = at::zeros({count, tokens}, staging(device_, at::kLong));
  std::vector<uint16_t> room;
  for (int64_t i = 0; i < count; ++i) {
    const FeatureDocument& document = *documents[static_cast<size_t>(i)];
    const auto size = document.tokens.size() - 1;
    TRY(const std::span<const uint16_t> features, data_.features(document, room));
    auto* to = static_cast<uint16_t*>(batch.features.mutable_data_ptr()) + i * tokens * cols_;
    std::ranges::copy(features.first(size * static_cast<size_t>(cols_)), to);
    std::ranges::copy(document.tokens.first(size), batch.tokens.mutable_data_ptr<int64_t>() + i * tokens);
    batch.chats.push_back(chat_of(document, batch.first));
  }
  std::vector<int64_t> rows, place;
  for (int64_t step = 0; step < steps_; ++step) {
    const size_t before = rows.size();
    int64_t at = 0;  // among the rows of step 0
    for (int64_t i = 0; i < count; ++i) {
      const HeadBatch::Chat& chat = batch.chats[static_cast<size_t>(i)];
      for (auto row = static_cast<size_t>(chat.answer); row < chat.choice.size(); ++row) {
        if (chat.choice[row] < 0) continue;
        // A row at this step reads the rows of the steps before it.
        if (static_cast<int64_t>(row) >= step) {
          rows.push_back(i * (tokens - batch.first) + static_cast<int64_t>(row));
          place.push_back(at);
        }
        ++at;
      }
    }
    batch.counts.push_back(static_cast<int64_t>(rows.size() - before));
  }
  batch.rows = staged(rows, device_);
  batch.place = staged(place, device_);
  return batch;
}

int64_t HeadBatcher::learnable_rows(const FeatureDocument& document) const {
  const auto begin = static_cast<size_t>(document.answer - 1);
  const std::span<const TokenId> choices = document.choices.subspan(begin, document.tokens.size() - 1 - begin);
  return std::ranges::count_if(choices, [&](TokenId choice) { return index_[static_cast<size_t>(choice)] >= 0; });
}

}  // namespace slipstream::train
