#include "common/corpus/sealed_file.h"

#include <bit>
#include <cstring>

#include <xxhash.h>

#include "common/base/check.h"

namespace slipstream {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kMagicBytes = 8;

struct Seal {
  char magic[kMagicBytes] = {};
  uint32_t version = 0, unused = 0;
  uint64_t tokenizer = 0, bytes = 0, checksum = 0;
};
static_assert(sizeof(Seal) == kSealBytes);

}  // namespace

std::string seal(const SealedKind& kind, uint64_t tokenizer, std::span<const std::byte> body) {
  CHECK(kind.magic.size() == kMagicBytes, "a magic of {} bytes", kind.magic.size());
  Seal seal{
      .version = kind.version, .tokenizer = tokenizer, .bytes = body.size(), .checksum = XXH3_64bits(body.data(), body.size())};
  std::memcpy(seal.magic, kind.magic.data(), kMagicBytes);
  return {reinterpret_cast<const char*>(&seal), sizeof(seal)};
}

Result<std::span<const std::byte>> unseal(const SealedKind& kind, uint64_t tokenizer, std::span<const std::byte> file,
                                          const std::string& path) {
  Seal seal;
  if (file.size() >= sizeof(seal)) std::memcpy(&seal, file.data(), sizeof(seal));
  if (std::string_view(seal.magic, kMagicBytes) != kind.magic) {
    return fail("{} is no {} (one begins with {}): {}", path, kind.what, kind.magic, kind.remedy);
  }
  if (seal.version != kind.version) {
    return fail("{} is a {} of version {}, and this program reads version {}: {}", path, kind.what, seal.version, kind.version,
                kind.remedy);
  }
  if (seal.tokenizer != tokenizer) {
    return fail("{} is of tokenizer {:016x}, and the model's is {:016x}, so its tokens would mean other words: {}", path,
                seal.tokenizer, tokenizer, kind.remedy);
  }
  const std::span<const std::byte> body = file.subspan(sizeof(seal));
  if (seal.bytes != body.size()) {
    return fail("{} has {} bytes behind its header, which says {}: it was cut short or added to; {}", path, body.size(),
                seal.bytes, kind.remedy);
  }
  if (seal.checksum != XXH3_64bits(body.data(), body.size())) {
    return fail("{} is damaged, as its checksum shows: {}", path, kind.remedy);
  }
  return body;
}

}  // namespace slipstream
