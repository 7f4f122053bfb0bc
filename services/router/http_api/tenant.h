// Whose request it is, by the API key that came with it.
#pragma once

#include <string_view>

#include "common/base/ids.h"
#include "common/base/prefix_hash.h"

namespace slipstream {

inline constexpr TenantId kEveryone = 1;  // where all clients are one tenant

// authorization: the header's value, "Bearer KEY". kNoTenant: there is no key in it. The same key
// is the same tenant at every router. Two keys are the same tenant with probability 2^-64, and
// nobody can search for such a key without knowing the other's id, which leaves the service in no
// answer.
inline TenantId tenant_of(std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.starts_with(kBearer) || authorization.size() == kBearer.size()) return kNoTenant;
  TenantId hash = kFnv1aOfNothing;
  for (const char byte : authorization.substr(kBearer.size())) hash = fnv1a(hash, static_cast<uint8_t>(byte));
  return hash == kNoTenant ? 1 : hash;
}

}  // namespace slipstream
