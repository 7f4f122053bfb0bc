// Keeps the answers that this process gave earlier, of each tenant apart: look-up finds an answer's
// next tokens in earlier answers to the same tenant (SuffixDecoding, 2411.04975, and REST,
// 2311.08252, look them up in suffix trees and in a datastore; we count n-grams,
// speculation/ngram_counts.h).
//
// Isolation: a text is found by requests of its own tenant only, so no tenant can see another's
// text in drafts, or in the time that they save. A request without a tenant finds and leaves
// nothing.
//
// Memory is bounded: of a tenant the newest kTenantTokensMax tokens, about 104 bytes each; of all
// tenants kTenantsTokensMax, and of kTenantsMax tenants; beyond that the tenant is forgotten to
// which nothing was added for the longest time. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <span>

#include "common/base/ids.h"
#include "common/speculation/ngram_counts.h"

namespace slipstream {

inline constexpr int32_t kTenantTokensMax = 1 << 17;   // 14 MB
inline constexpr int64_t kTenantsTokensMax = 1 << 20;  // 109 MB
inline constexpr size_t kTenantsMax = 256;

class TenantTexts {
 public:
  // Null: nothing is known of this tenant.
  const NgramCounts* find(TenantId tenant) const;
  // Adds a text of this tenant. kNoTenant leaves nothing.
  void append(TenantId tenant, std::span<const TokenId> text);

  // Calls `visit` with each tenant and its text, in the order in which they were added to last.
  // What is appended to an empty TenantTexts in this order makes it equal to this one.
  void each(const std::function<void(TenantId, std::span<const TokenId>)>& visit) const;

  int64_t tokens() const { return tokens_; }         // that memory is taken for
  uint64_t forgotten() const { return forgotten_; }  // tenants

 private:
  struct Tenant {
    TenantId id = kNoTenant;
    NgramCounts text{kTenantTokensMax};
  };
  std::list<Tenant> tenants_;  // that to which a text was added last comes first
  int64_t tokens_ = 0;
  uint64_t forgotten_ = 0;
};

}  // namespace slipstream
