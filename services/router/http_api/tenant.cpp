#include "services/router/http_api/tenant.h"

#include <openssl/sha.h>

#include <array>
#include <string>

#include "common/base/ascii_case.h"

namespace slipstream {

std::string_view key_in(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer", kBlanks = " \t";
  if (!is_but_for_case(authorization.substr(0, kBearer.size()), kBearer)) return {};  // RFC 9110, 11.1: it has no case
  const size_t blanks = authorization.find_first_not_of(kBlanks, kBearer.size());
  if (blanks == authorization.npos || blanks == kBearer.size()) return {};  // no key, or a longer word than the scheme
  return authorization.substr(blanks);
}

// The id is read highest byte first, as digests are printed. No key gets an id that has a meaning.
TenantId tenant_of(std::string_view authorization) {
  const std::string_view key = key_in(authorization);
  if (key.empty()) return kNoTenant;
  const std::string hashed = std::string(kTenantDomain).append(key);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(hashed.data()), hashed.size(), digest.data());
  TenantId id = 0;
  for (size_t byte = 0; byte < sizeof(id); ++byte) id = id << 8 | digest[byte];
  return id <= kEveryone ? kEveryone + 1 : id;
}

}  // namespace slipstream
