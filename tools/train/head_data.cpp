#include "tools/train/head_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

#include <xxhash.h>

#include "common/checkpoint/fingerprint.h"

namespace slipstream::train {
namespace {

constexpr int64_t kScaleTokens = 16384;  // enough to know the scales of the features
constexpr double kScaleMin = 1e-6;
constexpr size_t kChatsAtOnce = 64;  // computed before anybody is told of them

Result<std::vector<std::filesystem::path>> shards_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".shard") paths.push_back(entry->path());
  }
  if (error) return fail("cannot read the folder {}: {}", folder.string(), error.message());
  if (paths.empty()) return fail("{} has no feature shards: make them with `slipstream-train collect`", folder.string());
  std::ranges::sort(paths);
  return paths;
}

uint64_t hash_of(const std::vector<ChatDocument>& chats) {
  std::vector<uint64_t> hashes;
  for (const ChatDocument& chat : chats) {
    hashes.push_back(
        XXH3_64bits_withSeed(chat.tokens.data(), chat.tokens.size() * sizeof(TokenId), static_cast<uint64_t>(chat.answer)));
  }
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(hashes[0]));
}

}  // namespace

// Of so many documents one, the last, is held out, counted over all calls.
void HeadData::split(std::span<const FeatureDocument> documents, int64_t held_out_every) {
  for (const FeatureDocument& document : documents) {
    const auto number = static_cast<int64_t>(train_.size() + held_out_.size()) + 1;
    (number % held_out_every == 0 ? held_out_ : train_).push_back(document);
  }
}

Result<HeadData> HeadData::open(const std::filesystem::path& folder, uint64_t tokenizer, int64_t held_out_every) {
  TRY(const std::vector<std::filesystem::path> paths, shards_of(folder));
  HeadData data;
  std::vector<uint64_t> hashes;
  for (const auto& path : paths) {
    TRY(FeatureShard shard, FeatureShard::open(path, tokenizer));
    if (!data.shards_.empty() && shard.origin() != data.origin_) {
      return fail("{} is of another target or other layers than the shards before it: collect all with one command",
                  path.string());
    }
    data.origin_ = shard.origin();
    data.split(shard.documents(), held_out_every);
    hashes.push_back(shard.hash());
    data.shards_.push_back(std::move(shard));
  }
  data.hash_ = XXH3_64bits(hashes.data(), hashes.size() * sizeof(hashes[0]));
  if (data.train_.empty() || data.held_out_.empty()) {
    return fail("{} has {} chats, of which each {}th is held out: collect more", folder.string(),
                data.train_.size() + data.held_out_.size(), held_out_every);
  }
  return data;
}

Result<HeadData> HeadData::compute(std::vector<ChatDocument> chats, FeatureCollector collector, const Computing& how) {
  if (static_cast<int64_t>(chats.size()) < how.held_out_every) {
    return fail("there are {} chats, of which each {}th is held out: add more", chats.size(), how.held_out_every);
  }
  HeadData data;
  data.origin_ = collector.origin();
  data.hash_ = hash_of(chats);
  data.source_ = std::make_unique<Source>(std::move(collector));
  uint64_t left = how.bytes_max;
  for (size_t begin = 0; begin < chats.size(); begin += kChatsAtOnce) {
    const auto from = chats.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kChatsAtOnce, chats.size() - begin));
    TRY(std::vector<CollectedDocument> documents,
        data.source_->collector.collect({std::make_move_iterator(from), std::make_move_iterator(from + count)}));
    int64_t tokens = 0;
    for (CollectedDocument& document : documents) {
      tokens += static_cast<int64_t>(document.chat.tokens.size());
      const uint64_t bytes = document.features.size() * sizeof(document.features[0]);
      if (bytes <= left) {
        left -= bytes;
      } else {
        document.features = {};
      }
      data.computed_.push_back(std::move(document));
    }
    if (how.computed && !how.computed(tokens)) return fail("stopped before the first step: nothing was kept");
  }
  std::vector<FeatureDocument> views;
  for (const CollectedDocument& document : data.computed_) views.push_back(document.view());
  data.split(views, how.held_out_every);
  return data;
}

Result<std::span<const uint16_t>> HeadData::features(const FeatureDocument& document, std::vector<uint16_t>& room) const {
  if (!document.features.empty()) return document.features;
  const std::lock_guard lock(source_->mutex);
  TRY(CollectedDocument computed,
      source_->collector.collect({.tokens = {document.tokens.begin(), document.tokens.end()}, .answer = document.answer}));
  room = std::move(computed.features);
  return room;
}

int64_t HeadData::tokens_max() const {
  size_t most = 0;
  for (const auto documents : {train(), held_out()}) {
    for (const FeatureDocument& document : documents) most = std::max(most, document.tokens.size());
  }
  return static_cast<int64_t>(most);
}

int64_t HeadData::tokens_of(int64_t chats) const {
  int64_t tokens = 0;
  for (const FeatureDocument& document : train_) tokens += static_cast<int64_t>(document.tokens.size());
  return tokens * chats / static_cast<int64_t>(train_.size());
}

Result<std::vector<int32_t>> head_taps(const FeatureOrigin& origin, const std::filesystem::path& model,
                                       const LlamaConfig& target, const std::filesystem::path& folder) {
  TRY(const uint64_t weights, hash_weights(model, target));
  if (origin.weights != weights || origin.hidden != target.hidden) {
    return fail("the features of {} are of another target than {}: collect them anew", folder.string(), model.string());
  }
  const std::span taps(origin.tap.data(), static_cast<size_t>(origin.taps));
  if (taps.size() < 2 || taps.back() != target.layers) {
    return fail("the features of {} lack what the final norm reads: collect them anew", folder.string());
  }
  return std::vector<int32_t>(taps.begin(), taps.end() - 1);
}

std::vector<TokenId> frequent_tokens(std::span<const FeatureDocument> documents, int32_t vocabulary, int32_t size) {
  std::vector<int64_t> counts(static_cast<size_t>(vocabulary));
  for (const FeatureDocument& document : documents) {
    const auto answer = static_cast<size_t>(document.answer);
    for (const TokenId token : document.tokens.subspan(answer)) ++counts[static_cast<size_t>(token)];
    for (const TokenId choice : document.choices.subspan(answer - 1)) ++counts[static_cast<size_t>(choice)];
  }
  std::vector<TokenId> tokens(counts.size());
  std::iota(tokens.begin(), tokens.end(), TokenId{0});
  std::ranges::stable_sort(tokens, std::greater(), [&](TokenId token) { return counts[static_cast<size_t>(token)]; });
  tokens.resize(static_cast<size_t>(std::min(size, vocabulary)));
  std::ranges::sort(tokens);
  return tokens;
}

Result<std::vector<float>> feature_scales(const HeadData& data, int64_t width) {
  std::vector<double> squares(static_cast<size_t>(data.origin().width()));
  std::vector<uint16_t> room;
  int64_t tokens = 0;
  for (const FeatureDocument& document : data.train()) {
    if (tokens >= kScaleTokens) break;
    TRY(const std::span<const uint16_t> features, data.features(document, room));
    for (size_t at = squares.size(); at < features.size(); ++at) {
      const double value = std::bit_cast<float>(uint32_t{features[at]} << 16);
      squares[at % squares.size()] += value * value;
    }
    tokens += static_cast<int64_t>(document.tokens.size()) - 1;
  }
  std::vector<float> scales;
  for (const double square : std::span(squares).first(static_cast<size_t>(width))) {
    scales.push_back(static_cast<float>(std::max(kScaleMin, std::sqrt(square / static_cast<double>(tokens)))));
  }
  return scales;
}

}  // namespace slipstream::train
