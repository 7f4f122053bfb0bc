// `slipstream-train collect`: feature shards of chats.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/checkpoint/fingerprint.h"
#include "common/config/cpu_quota.h"
#include "tools/train/commands.h"
#include "tools/train/feature_collector.h"
#include "tools/train/progress_line.h"

namespace slipstream::train {
namespace {

constexpr int64_t kShardTokens = 32768;  // 150 MB of four taps of 576 numbers

using Chats = std::vector<ChatDocument>;
using ChatRange = std::pair<size_t, size_t>;  // [first, second)

// A chat belongs to the same shard however many come behind it.
std::vector<ChatRange> ranges_of(const Chats& chats) {
  std::vector<ChatRange> ranges;
  int64_t tokens = kShardTokens;
  for (size_t i = 0; i < chats.size(); ++i) {
    if (tokens >= kShardTokens) {
      ranges.emplace_back(i, i);
      tokens = 0;
    }
    ranges.back().second = i + 1;
    tokens += static_cast<int64_t>(chats[i].tokens.size());
  }
  return ranges;
}

bool holds(const FeatureShard& shard, const FeatureOrigin& origin, const Chats& chats, ChatRange range) {
  const auto documents = shard.documents();
  if (shard.origin() != origin || documents.size() != range.second - range.first) return false;
  for (size_t i = 0; i < documents.size(); ++i) {
    const ChatDocument& chat = chats[range.first + i];
    if (documents[i].answer != chat.answer || !std::ranges::equal(documents[i].tokens, chat.tokens)) return false;
  }
  return true;
}

int64_t tokens_of(const Chats& chats, ChatRange range) {
  int64_t tokens = 0;
  for (size_t i = range.first; i < range.second; ++i) tokens += static_cast<int64_t>(chats[i].tokens.size());
  return tokens;
}

struct Work {
  FeatureCollector& collector;
  Chats& chats;
  RateLine& progress;
  std::stop_token stop;
};

// The shard of these chats, or nothing if a stop was asked for.
Result<std::vector<CollectedDocument>> collect_range(const Work& work, ChatRange range) {
  std::vector<CollectedDocument> documents;
  for (size_t i = range.first; i < range.second; ++i) {
    if (work.stop.stop_requested()) return std::vector<CollectedDocument>();
    TRY(CollectedDocument document, work.collector.collect(work.chats[i]));
    work.progress.add(static_cast<int64_t>(document.chat.tokens.size()), RateLine::Clock::now());
    documents.push_back(std::move(document));
  }
  return documents;
}

std::filesystem::path shard_path(const CollectOptions& options, size_t number) {
  return options.out / fmt::format("features-{:05}.shard", number);
}

}  // namespace

Result<RunEnd> collect_features(const CollectOptions& options, std::stop_token stop) {
  TRY(const LlamaConfig config, read_llama_config(options.model));
  TRY(const uint64_t tokenizer, hash_tokenizer(options.model));
  TRY(Chats chats, read_chats(options.documents, config));
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) return fail("cannot make the folder {}: {}", options.out.string(), error.message());
  const std::vector<int32_t> taps = taps_with_final(options.taps, config);
  const int threads = options.threads > 0 ? options.threads : cpu_quota();
  const DeviceOptions device{.name = options.device, .threads = threads, .path = options.path};
  TRY(FeatureCollector collector, FeatureCollector::load(options.model, device, taps, longest(chats)));
  RateLine progress(tokens_of(chats, {0, chats.size()}), "tokens");
  const Work work{.collector = collector, .chats = chats, .progress = progress, .stop = stop};
  const std::vector<ChatRange> ranges = ranges_of(chats);
  for (size_t number = 0; number < ranges.size(); ++number) {
    const std::filesystem::path path = shard_path(options, number);
    const auto there = FeatureShard::open(path, tokenizer);
    if (there && holds(*there, collector.origin(), chats, ranges[number])) {
      progress.skip(tokens_of(chats, ranges[number]));
      continue;
    }
    TRY(const std::vector<CollectedDocument> documents, collect_range(work, ranges[number]));
    if (documents.empty()) return RunEnd::stopped;
    std::vector<FeatureDocument> views;
    for (const CollectedDocument& document : documents) views.push_back(document.view());
    TRY_VOID(write_feature_shard(path, tokenizer, collector.origin(), views));
  }
  // What an earlier collection of more chats left behind would be trained on.
  for (size_t number = ranges.size(); std::filesystem::remove(shard_path(options, number), error); ++number) {
  }
  fmt::print("{} holds {} shards of {} chats; train with `slipstream-train head --data {}`\n", options.out.string(),
             ranges.size(), chats.size(), options.out.string());
  return RunEnd::finished;
}

}  // namespace slipstream::train
