#include "tools/train/feature_shard.h"

#include <algorithm>
#include <cstring>

#include <xxhash.h>

#include "common/base/write_whole.h"
#include "common/corpus/sealed_file.h"
#include "tools/train/body_fields.h"

namespace slipstream::train {
namespace {

constexpr SealedKind kShard{
    .magic = "SLIPFEAT", .version = 1, .what = "feature shard", .remedy = "make it with `slipstream-train collect`"};

struct FeatureCounts {
  int64_t documents = 0, tokens = 0;
};

constexpr int64_t kDocumentsMax = 1 << 24, kTokensMax = 1 << 28;

// The size of a body, header and all; -1: no body is as large.
int64_t body_bytes(const FeatureOrigin& origin, const FeatureCounts& counts) {
  if (origin.hidden < 1 || origin.hidden > 1 << 16 || origin.taps < 1 || origin.taps > static_cast<int32_t>(kTapsMax))
    return -1;
  if (counts.documents < 1 || counts.documents > kDocumentsMax || counts.tokens < 1 || counts.tokens > kTokensMax) return -1;
  const int64_t of_a_token =
      2 * static_cast<int64_t>(sizeof(TokenId)) + origin.width() * static_cast<int64_t>(sizeof(uint16_t));
  return static_cast<int64_t>(sizeof(origin) + sizeof(counts)) +
         (2 * counts.documents + 1) * static_cast<int64_t>(sizeof(int64_t)) + counts.tokens * of_a_token;
}

// What the arrays behind the two headers hold, or nothing if their numbers contradict each other.
std::vector<FeatureDocument> cut(std::span<const std::byte> body, const FeatureOrigin& origin, const FeatureCounts& counts) {
  const auto starts = take<int64_t>(body, counts.documents + 1), answers = take<int64_t>(body, counts.documents);
  const auto tokens = take<TokenId>(body, counts.tokens), choices = take<TokenId>(body, counts.tokens);
  const auto features = take<uint16_t>(body, counts.tokens * origin.width());
  std::vector<FeatureDocument> documents;
  for (size_t i = 0; i < answers.size(); ++i) {
    const int64_t begin = starts[i], count = starts[i + 1] - begin;
    if (begin < 0 || count < 1 || starts[i + 1] > counts.tokens || answers[i] < 1 || answers[i] >= count) return {};
    const auto at = static_cast<size_t>(begin), size = static_cast<size_t>(count), width = static_cast<size_t>(origin.width());
    documents.push_back({.tokens = tokens.subspan(at, size),
                         .choices = choices.subspan(at, size),
                         .answer = answers[i],
                         .features = features.subspan(at * width, size * width)});
  }
  return documents;
}

}  // namespace

FeatureOrigin FeatureOrigin::of(uint64_t weights, int32_t hidden, std::span<const int32_t> taps) {
  FeatureOrigin origin{.weights = weights, .hidden = hidden, .taps = static_cast<int32_t>(taps.size())};
  origin.tap.fill(-1);
  std::ranges::copy(taps, origin.tap.begin());
  return origin;
}

Result<FeatureShard> FeatureShard::open(const std::filesystem::path& path, uint64_t tokenizer) {
  TRY(MappedFile file, MappedFile::open(path));
  TRY(std::span<const std::byte> body, unseal(kShard, tokenizer, file.bytes(), path.string()));
  const auto bytes = static_cast<int64_t>(body.size());
  FeatureShard shard(std::move(file), XXH3_64bits(body.data(), body.size()));
  FeatureCounts counts;
  if (body.size() >= sizeof(shard.origin_) + sizeof(counts)) {
    std::memcpy(&shard.origin_, body.data(), sizeof(shard.origin_));
    std::memcpy(&counts, body.data() + sizeof(shard.origin_), sizeof(counts));
    if (bytes == body_bytes(shard.origin_, counts)) {
      shard.documents_ = cut(body.subspan(sizeof(shard.origin_) + sizeof(counts)), shard.origin_, counts);
    }
  }
  if (shard.documents_.empty()) return fail("{} is damaged: {}", path.string(), kShard.remedy);
  return shard;
}

Result<void> write_feature_shard(const std::filesystem::path& path, uint64_t tokenizer, const FeatureOrigin& origin,
                                 std::span<const FeatureDocument> documents) {
  FeatureCounts counts{.documents = static_cast<int64_t>(documents.size())};
  std::vector<int64_t> starts{0}, answers;
  for (const FeatureDocument& document : documents) {
    counts.tokens += static_cast<int64_t>(document.tokens.size());
    starts.push_back(counts.tokens);
    answers.push_back(document.answer);
  }
  std::string body;
  body.reserve(static_cast<size_t>(std::max<int64_t>(0, body_bytes(origin, counts))));
  append(body, origin);
  append(body, counts);
  append(body, std::span<const int64_t>(starts));
  append(body, std::span<const int64_t>(answers));
  for (const FeatureDocument& document : documents) append(body, document.tokens);
  for (const FeatureDocument& document : documents) append(body, document.choices);
  for (const FeatureDocument& document : documents) append(body, document.features);
  std::string file = seal(kShard, tokenizer, std::as_bytes(std::span(body)));
  return replace_whole(path.string(), file + body, "the feature shard");
}

}  // namespace slipstream::train
