// The first bytes of a file of token ids, by which its reader knows it: which kind of file, which
// version, of which tokenizer, and whether it is whole.
//
//   0   magic           8 bytes, that name the kind
//   8   version         uint32
//   12  0               uint32
//   16  tokenizer       uint64: its hash (checkpoint/tokenizer_hash.h)
//   24  bytes           uint64: of the body, which follows
//   32  checksum        uint64: XXH3-64 of the body
//
// Numbers are in the byte order of the machine; all that this product runs on have the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

inline constexpr size_t kSealBytes = 40;

struct SealedKind {
  std::string_view magic;  // 8 characters
  uint32_t version = 1;
  std::string_view what;    // names the kind in errors: "corpus"
  std::string_view remedy;  // what to do about a file that cannot be used: "make it with `slipstream corpus`"
};

// The first bytes of a file with this body.
std::string seal(const SealedKind& kind, uint64_t tokenizer, std::span<const std::byte> body);

// The body of a file. Errors name the file `path` and what is wrong: another kind, another version,
// another tokenizer than this, cut short, damaged.
Result<std::span<const std::byte>> unseal(const SealedKind& kind, uint64_t tokenizer, std::span<const std::byte> file,
                                          const std::string& path);

}  // namespace slipstream
