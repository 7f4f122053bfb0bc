#include "common/checkpoint/fingerprint.h"

#include <algorithm>
#include <memory>

#include <xxhash.h>

#include "common/checkpoint/mapped_file.h"
#include "common/checkpoint/safetensors.h"

namespace slipstream {
namespace {

uint64_t not_zero(uint64_t hash) { return std::max<uint64_t>(hash, 1); }  // 0 stands for "none" in a Fingerprint

}  // namespace

Result<uint64_t> hash_tokenizer(const std::filesystem::path& folder) {
  TRY(const MappedFile file, MappedFile::open(folder / "tokenizer.json"));
  return not_zero(XXH3_64bits(file.bytes().data(), file.bytes().size()));
}

Result<uint64_t> hash_weights(const std::filesystem::path& folder) {
  TRY(const auto paths, weight_files(folder));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (const auto& path : paths) {
    TRY(const MappedFile file, MappedFile::open(path));
    XXH3_64bits_update(state.get(), file.bytes().data(), file.bytes().size());
  }
  return not_zero(XXH3_64bits_digest(state.get()));
}

}  // namespace slipstream
