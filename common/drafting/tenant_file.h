// Keeps the texts of tenants in a file, so that they survive a restart.
//
//   header     corpus/sealed_file.h, magic SLIPTEXT
//   for each tenant, that to which a text was added last at the end:
//     tenant   uint64
//     tokens   uint64: how many
//     [tokens] int32: its texts, kTextEnd (-1) between them
//
// It holds what clients were told, in clear, under hashes of their API keys: mode 0600. Whether a
// process may have it at all is config/look_up_file.h's.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/drafting/tenant_texts.h"

namespace slipstream {

// Errors name the file and what is wrong with it.
Result<TenantTexts> read_tenant_file(const std::string& path, uint64_t tokenizer, int32_t vocabulary);
// Replaces the file.
Result<void> write_tenant_file(const std::string& path, uint64_t tokenizer, const TenantTexts& texts);

}  // namespace slipstream
