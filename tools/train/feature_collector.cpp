#include "tools/train/feature_collector.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <list>
#include <utility>

#include "common/base/check.h"

namespace slipstream::train {
namespace {

// Of the cache, for the chats that are computed beside the longest one.
int32_t blocks_beside(const Device& device) { return 2 * device.step_rows() / kBlockTokens; }

}  // namespace

uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

Result<FeatureCollector> FeatureCollector::load(const std::filesystem::path& target, const DeviceOptions& device,
                                                std::vector<int32_t> taps, int64_t tokens_max) {
  const auto blocks = static_cast<int32_t>((tokens_max + kBlockTokens - 1) / kBlockTokens);
  TRY(std::shared_ptr<Device> made, make_device(device));
  TRY(LanguageModel model, LanguageModel::load(target, made, {.cache_blocks = blocks + blocks_beside(*made), .taps = taps}));
  return FeatureCollector(std::move(model), std::move(taps), blocks);
}

FeatureOrigin FeatureCollector::origin() const {
  return FeatureOrigin::of(model_.weights_hash(), model_.config().hidden, taps_);
}

Result<CollectedDocument> FeatureCollector::collect(ChatDocument chat) {
  std::vector<ChatDocument> chats;
  chats.push_back(std::move(chat));
  TRY(std::vector<CollectedDocument> documents, collect(std::move(chats)));
  return std::move(documents.front());
}

Result<std::vector<CollectedDocument>> FeatureCollector::collect(std::vector<ChatDocument> chats) {
  BlockPool pool(model_.cache_blocks());
  std::vector<CollectedDocument> documents;
  for (ChatDocument& chat : chats) documents.push_back({.chat = std::move(chat), .choices = {}, .features = {}});
  std::list<BlockTable> tables;  // of the parts, which point to them
  std::vector<Part> parts;
  int32_t rows = 0;
  const auto compute = [&]() -> Result<void> {
    TRY_VOID(pass(parts));
    parts.clear();
    rows = 0;
    return {};
  };
  for (CollectedDocument& document : documents) {
    const auto tokens = static_cast<int32_t>(document.chat.tokens.size());
    tables.emplace_back(pool);
    if (!tables.back().reserve(tokens)) {  // the cache is full of the chats before it
      if (!parts.empty()) TRY_VOID(compute());
      tables.erase(tables.begin(), std::prev(tables.end()));
      CHECK(tables.back().reserve(tokens), "a chat of {} tokens", tokens);
    }
    for (int32_t begin = 0; begin < tokens;) {
      const int32_t end = std::min(tokens, begin + model_.step_rows() - rows);
      parts.push_back({&document, &tables.back(), begin, end});
      rows += end - begin;
      begin = end;
      if (rows < model_.step_rows()) continue;
      TRY_VOID(compute());
      tables.erase(tables.begin(), std::prev(tables.end()));
    }
  }
  if (!parts.empty()) TRY_VOID(compute());
  return documents;
}

// The rows whose next token belongs to an answer are wanted.
Result<void> FeatureCollector::pass(std::span<const Part> parts) {
  plan_.clear();
  plan_.blocks_max = blocks_;
  for (const Part& part : parts) {
    const int32_t sequence = plan_.add_sequence(part.table->blocks());
    const ChatDocument& chat = part.document->chat;
    for (int32_t at = part.begin; at < part.end; ++at) {
      plan_.add({.token = chat.tokens[static_cast<size_t>(at)],
                 .position = at,
                 .slot = part.table->slot(at),
                 .sequence = sequence,
                 .visible = at + 1});
      if (at + 1 >= chat.answer) plan_.want({.position = static_cast<uint32_t>(at), .params = {.temperature = 0.0F}});
    }
  }
  TRY(std::span<const TokenId> chosen, model_.run(plan_.view()));
  std::span<const float> features = model_.features();
  const auto width = static_cast<size_t>(origin().width());
  for (const Part& part : parts) {
    CollectedDocument& document = *part.document;
    const int32_t wanted =
        std::min(part.end - part.begin, std::max(0, part.end + 1 - static_cast<int32_t>(document.chat.answer)));
    document.choices.insert(document.choices.end(), static_cast<size_t>(part.end - part.begin - wanted), TokenId{-1});
    std::ranges::copy(chosen.first(static_cast<size_t>(wanted)), std::back_inserter(document.choices));
    chosen = chosen.subspan(static_cast<size_t>(wanted));
    const size_t numbers = static_cast<size_t>(part.end - part.begin) * width;
    std::ranges::transform(features.first(numbers), std::back_inserter(document.features), to_bf16);
    features = features.subspan(numbers);
  }
  return {};
}

}  // namespace slipstream::train
