// Chats of a tiny random target, and what it computes of them.
#pragma once

#include <random>

#include "tests/unit/common/model/models.h"
#include "tests/unit/tools/train/folder.h"
#include "tools/train/feature_collector.h"
#include "tools/train/head_config.h"

namespace slipstream::train {

inline std::filesystem::path tiny_target() { return test_data("tiny-llama"); }
inline LlamaConfig tiny_config() { return read_llama_config(tiny_target()).value(); }

// Chats of random tokens, of which few differ, so that few chats have all pairs of them.
inline std::vector<ChatDocument> random_chats(size_t count) {
  std::mt19937 dice(5);
  std::vector<ChatDocument> chats(count);
  for (ChatDocument& chat : chats) {
    const size_t size = 24 + dice() % 16;
    while (chat.tokens.size() < size) chat.tokens.push_back(static_cast<TokenId>(3 + dice() % 12));
    chat.answer = 4;
  }
  return chats;
}

// Computes the same features on every CPU.
inline FeatureCollector tiny_collector() {
  return FeatureCollector::load(tiny_target(), {.path = "portable"}, taps_with_final({0, 1}, tiny_config()), 64).value();
}

inline std::vector<CollectedDocument> collected(const std::vector<ChatDocument>& chats) {
  FeatureCollector collector = tiny_collector();
  std::vector<CollectedDocument> documents;
  for (const ChatDocument& chat : chats) documents.push_back(collector.collect(chat).value());
  return documents;
}

// Writes a folder of one shard with the features of these chats.
inline void write_features(const std::filesystem::path& folder, const std::vector<CollectedDocument>& documents) {
  std::filesystem::create_directories(folder);
  std::vector<FeatureDocument> views;
  for (const CollectedDocument& document : documents) views.push_back(document.view());
  const LlamaConfig config = tiny_config();
  const FeatureOrigin origin = FeatureOrigin::of(9, config.hidden, taps_with_final({0, 1}, config));
  EXPECT_TRUE(write_feature_shard(folder / "0.shard", kTokenizer, origin, views).has_value());
}

}  // namespace slipstream::train
