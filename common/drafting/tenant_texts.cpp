#include "common/drafting/tenant_texts.h"

#include <algorithm>
#include <ranges>

namespace slipstream {

const NgramCounts* TenantTexts::find(TenantId tenant) const {
  const auto at = std::ranges::find(tenants_, tenant, &Tenant::id);
  return tenant == kNoTenant || at == tenants_.end() ? nullptr : &at->text;
}

void TenantTexts::append(TenantId tenant, std::span<const TokenId> text) {
  if (tenant == kNoTenant || text.empty()) return;
  const auto at = std::ranges::find(tenants_, tenant, &Tenant::id);
  if (at == tenants_.end()) {
    tenants_.emplace_front().id = tenant;
    tokens_ += tenants_.front().text.room();
  } else {
    tenants_.splice(tenants_.begin(), tenants_, at);
  }
  NgramCounts& text_of = tenants_.front().text;
  tokens_ -= text_of.room();
  text_of.append(text);
  text_of.append({{kTextEnd}});
  tokens_ += text_of.room();
  while (tokens_ > kTenantsTokensMax || tenants_.size() > kTenantsMax) {  // one tenant alone is within both
    tokens_ -= tenants_.back().text.room();
    tenants_.pop_back();
    ++forgotten_;
  }
}

// append() adds the end of the newest text again.
void TenantTexts::each(const std::function<void(TenantId, std::span<const TokenId>)>& visit) const {
  for (const Tenant& tenant : std::views::reverse(tenants_)) {
    std::vector<TokenId> text = tenant.text.tail(kTenantTokensMax);
    text.pop_back();
    visit(tenant.id, text);
  }
}

}  // namespace slipstream
