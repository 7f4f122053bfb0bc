// The API keys that clients of the router may use, as the text of a file:
//
//   # the laptops
//   sk-9f2c41d0                 a key
//   alice sk-77aa03be           a key behind the name of whose it is, which only people read
//
// Blank lines and lines that begin with # are skipped. A key has 1 to kApiKeyBytesMax printable
// ASCII characters and no space.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace slipstream {

class ApiKeys {
 public:
  // Errors name the line, never a key: too many words, a comment behind a key, a character or a
  // length that no key has, the same key twice; or that there is no key, or more than kApiKeysMax.
  static Result<ApiKeys> parse(std::string_view text);

  // Takes as long for a key that is nearly right as for one that is all wrong.
  bool has(std::string_view key) const;
  size_t size() const { return digests_.size(); }

 private:
  using Digest = std::array<unsigned char, 32>;  // SHA-256 of a key
  static Digest digest_of(std::string_view key);

  std::vector<Digest> digests_;
};

}  // namespace slipstream
