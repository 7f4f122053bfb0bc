// Whose request it is, by the API key that came with it.
#pragma once

#include <string_view>

#include "common/base/ids.h"
#include "common/base/prefix_hash.h"

namespace slipstream {

inline constexpr TenantId kEveryone = 1;  // where all clients are one tenant

// authorization: the header's value, "Bearer KEY". Returns KEY; "": there is none in it.
inline std::string_view key_in(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  if (authorization.size() < kBearer.size()) return {};
  for (size_t i = 0; i < kBearer.size(); ++i) {  // the scheme has no case (RFC 9110, 11.1)
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kBearer[i]) return {};
  }
  return authorization.substr(kBearer.size());
}

// kNoTenant: there is no key in the header's value. The same key is the same tenant at every
// router. Two keys are the same tenant with probability 2^-64, and nobody can search for such a key
// without knowing the other's id, which leaves the service in no answer.
inline TenantId tenant_of(std::string_view authorization) {
  const std::string_view key = key_in(authorization);
  if (key.empty()) return kNoTenant;
  TenantId hash = kFnv1aOfNothing;
  for (const char byte : key) hash = fnv1a(hash, static_cast<uint8_t>(byte));
  return hash == kNoTenant ? 1 : hash;
}

}  // namespace slipstream
