#include "tools/train/head_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <xxhash.h>

namespace slipstream::train {
namespace {

constexpr int64_t kScaleTokens = 16384;  // enough to know the scales of the features
constexpr double kScaleMin = 1e-6;

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

}  // namespace

Result<HeadData> HeadData::open(const std::filesystem::path& folder, uint64_t tokenizer, int64_t held_out_every) {
  TRY(const std::vector<std::filesystem::path> paths, shards_of(folder));
  HeadData data;
  int64_t number = 0;
  for (const auto& path : paths) {
    TRY(FeatureShard shard, FeatureShard::open(path, tokenizer));
    if (!data.shards_.empty() && shard.origin() != data.origin()) {
      return fail("{} is of another target or other layers than the shards before it: collect all with one command",
                  path.string());
    }
    for (const FeatureDocument& document : shard.documents()) {
      (++number % held_out_every == 0 ? data.held_out_ : data.train_).push_back(document);
    }
    data.shards_.push_back(std::move(shard));
  }
  if (data.train_.empty() || data.held_out_.empty()) {
    return fail("{} has {} chats, of which each {}th is held out: collect more", folder.string(), number, held_out_every);
  }
  return data;
}

uint64_t HeadData::hash() const {
  std::vector<uint64_t> hashes;
  for (const FeatureShard& shard : shards_) hashes.push_back(shard.hash());
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(hashes[0]));
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

std::vector<float> feature_scales(std::span<const FeatureDocument> documents, int64_t width) {
  std::vector<double> squares(static_cast<size_t>(width));
  int64_t tokens = 0;
  for (const FeatureDocument& document : documents) {
    if (tokens >= kScaleTokens) break;
    for (size_t at = squares.size(); at < document.features.size(); ++at) {
      const double value = std::bit_cast<float>(uint32_t{document.features[at]} << 16);
      squares[at % squares.size()] += value * value;
    }
    tokens += static_cast<int64_t>(document.tokens.size()) - 1;
  }
  std::vector<float> scales;
  for (const double square : squares) {
    scales.push_back(static_cast<float>(std::max(kScaleMin, std::sqrt(square / static_cast<double>(tokens)))));
  }
  return scales;
}

}  // namespace slipstream::train
