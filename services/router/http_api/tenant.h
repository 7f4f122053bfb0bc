// Whose request it is, by the API key that came with it.
//
// Verifiers and drafters are told a tenant's id, not its key, and a file of remembered answers
// holds the ids. An id is the first 64 bits of SHA-256 over kTenantDomain and the key. So:
//
// - The same key is the same tenant at every router, without a secret that routers would have to
//   share: routers with secrets of their own would make several tenants of one key.
// - An id tells nothing of a key but whether a guess is right. Two keys are the same tenant with
//   probability 2^-64, and to search for a key with a given id takes about 2^64 tries.
// - A key that can be guessed is not safe: who reads an id can try guesses, as fast as SHA-256 is
//   (thousands of millions a second). 16 random characters are out of reach, a word is not. A slow
//   hash would raise the price of a guess, and of each request. What keeps ids from readers are
//   encrypted links (docs/use/KEYS.md) and the mode of the file.
#pragma once

#include <string_view>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr TenantId kEveryone = 1;  // where all clients are one tenant

// Tells these hashes apart from those of the same keys elsewhere.
inline constexpr std::string_view kTenantDomain = "slipstream tenant\n";

// authorization: the header's value, "Bearer KEY", the scheme in any case and behind it one blank
// or several: one key is one tenant however a client spells that. Returns KEY; "": there is none in
// it, as behind another scheme, or where a key stands alone.
std::string_view key_in(std::string_view authorization);

// kNoTenant: there is no key in the header's value.
TenantId tenant_of(std::string_view authorization);

}  // namespace slipstream
