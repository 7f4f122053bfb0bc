#include "tools/train/token_shard.h"

#include <algorithm>

#include <xxhash.h>

#include "common/base/write_whole.h"
#include "common/corpus/sealed_file.h"

namespace slipstream::train {
namespace {

constexpr SealedKind kShard{
    .magic = "SLIPTOKS", .version = 1, .what = "shard", .remedy = "make it with `slipstream-train shard`"};

}  // namespace

Result<TokenShard> TokenShard::open(const std::filesystem::path& path, uint64_t tokenizer, int32_t vocabulary) {
  TRY(MappedFile file, MappedFile::open(path));
  TRY(const std::span<const std::byte> body, unseal(kShard, tokenizer, file.bytes(), path.string()));
  if (body.empty() || body.size() % sizeof(TokenId) != 0) {
    return fail("{} holds {} bytes of tokens, of which each has {}: {}", path.string(), body.size(), sizeof(TokenId),
                kShard.remedy);
  }
  const std::span tokens(reinterpret_cast<const TokenId*>(body.data()), body.size() / sizeof(TokenId));
  const auto [least, most] = std::ranges::minmax(tokens);
  if (least < 0 || most >= vocabulary) {
    return fail("{} has the token {}, and the model's vocabulary ends before {}: {}", path.string(), least < 0 ? least : most,
                vocabulary, kShard.remedy);
  }
  return TokenShard(std::move(file), tokens, XXH3_64bits(body.data(), body.size()));
}

Result<void> write_shard(const std::filesystem::path& path, uint64_t tokenizer, std::span<const TokenId> tokens) {
  if (tokens.empty()) return fail("there is no text for the shard {}", path.string());
  if (static_cast<int64_t>(tokens.size()) > kShardTokensMax) {
    return fail("{} tokens are more than the {} of a shard: make several, of some of the texts each", tokens.size(),
                kShardTokensMax);
  }
  const auto body = std::as_bytes(tokens);
  std::string file = seal(kShard, tokenizer, body);
  file.append(reinterpret_cast<const char*>(body.data()), body.size());
  return replace_whole(path.string(), file, "the shard");
}

}  // namespace slipstream::train
