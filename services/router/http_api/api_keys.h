// The API keys that clients of the router may use, as the text of a file:
//
//   # the laptops
//   sk-9f2c41d0                 a key
//   alice sk-77aa03be           a key behind the name of whose it is, which only people read
//   bob sk-5d10 rpm=60 concurrent=4     one that may send 60 requests a minute, 4 of them at once
//   carol sk-e41b90c2d7a85f36 admin     one that may also drain drafters
//   dave sk-0c55d1f2ba7e4693 priority   one whose requests may ask to go before those of others
//
// Blank lines and lines that begin with # are skipped. A key has 1 to kApiKeyBytesMax printable
// ASCII characters and no space. Limits and words come last, in any order; limits are 1 to
// kKeyLimitMost. A key with one of the words has kAdminKeyBytesLeast characters, and a name before
// it, so that no name whose key is missing is taken for one. An admin may go first, too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "services/router/http_api/key_use.h"

namespace slipstream {

class ApiKeys {
 public:
  // Errors name the line, never a key: too many words, a comment behind a key, a character or a
  // length that no key has, the same key twice, admin or priority without a name; or that there is
  // no key, or more than kApiKeysMax.
  static Result<ApiKeys> parse(std::string_view text);

  // Takes as long for a key that is nearly right as for one that is all wrong.
  bool has(std::string_view key) const { return find(key).has_value(); }
  std::optional<KeyLimits> find(std::string_view key) const;  // nullopt: it is none of these
  bool is_admin(std::string_view key) const;
  bool may_go_first(std::string_view key) const;
  size_t size() const { return digests_.size(); }

 private:
  using Digest = std::array<unsigned char, 32>;  // SHA-256 of a key
  static Digest digest_of(std::string_view key);
  std::optional<size_t> place_of(std::string_view key) const;

  std::vector<Digest> digests_;
  std::vector<KeyLimits> limits_;  // [digests]
  std::vector<bool> admins_;       // [digests]
  std::vector<bool> go_first_;     // [digests]
};

}  // namespace slipstream
