#include "tools/train/feature_collector.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "common/base/check.h"
#include "common/base/limits.h"

namespace slipstream::train {

uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

Result<FeatureCollector> FeatureCollector::load(const std::filesystem::path& target, const DeviceOptions& device,
                                                std::vector<int32_t> taps, int64_t tokens_max) {
  const auto blocks = static_cast<int32_t>((tokens_max + kBlockTokens - 1) / kBlockTokens);
  TRY(std::shared_ptr<Device> made, make_device(device));
  TRY(LanguageModel model, LanguageModel::load(target, made, {.cache_blocks = blocks, .taps = taps}));
  return FeatureCollector(std::move(model), std::move(taps), blocks);
}

FeatureOrigin FeatureCollector::origin() const {
  return FeatureOrigin::of(model_.weights_hash(), model_.config().hidden, taps_);
}

Result<CollectedDocument> FeatureCollector::collect(ChatDocument chat) {
  BlockPool pool(blocks_);
  BlockTable table(pool);
  const auto tokens = static_cast<int32_t>(chat.tokens.size());
  CHECK(table.reserve(tokens), "a chat of {} tokens", tokens);
  CollectedDocument document{.chat = std::move(chat), .choices = {}, .features = {}};
  for (int32_t begin = 0; begin < tokens; begin += kStepRowsMax) {
    TRY_VOID(pass(document, table, begin, std::min(tokens, begin + kStepRowsMax)));
  }
  return document;
}

// The rows [begin, end) of the chat. Those whose next token belongs to the answer are wanted.
Result<void> FeatureCollector::pass(CollectedDocument& document, const BlockTable& table, int32_t begin, int32_t end) {
  plan_.clear();
  plan_.blocks_max = blocks_;
  const int32_t sequence = plan_.add_sequence(table.blocks());
  for (int32_t at = begin; at < end; ++at) {
    plan_.add({.token = document.chat.tokens[static_cast<size_t>(at)],
               .position = at,
               .slot = table.slot(at),
               .sequence = sequence,
               .visible = at + 1});
    if (at + 1 >= document.chat.answer) plan_.want({.position = static_cast<uint32_t>(at), .params = {.temperature = 0.0F}});
  }
  TRY(const std::span<const TokenId> chosen, model_.run(plan_.view()));
  document.choices.insert(document.choices.end(), static_cast<size_t>(end - begin) - chosen.size(), TokenId{-1});
  document.choices.insert(document.choices.end(), chosen.begin(), chosen.end());
  std::ranges::transform(model_.features(), std::back_inserter(document.features), to_bf16);
  return {};
}

}  // namespace slipstream::train
