// Keeps the texts of tenants in a file, so that they survive a restart.
//
//   header     corpus/sealed_file.h, magic SLIPTEXT
//   for each tenant, that to which a text was added last at the end:
//     tenant   uint64
//     tokens   uint64: how many
//     [tokens] int32: its texts, kTextEnd (-1) between them
//
// It holds what clients were told, in clear, under hashes of their API keys: mode 0600.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/drafting/tenant_texts.h"

namespace slipstream {

// Nothing if the file is absent, or begins as write_tenant_file makes one, of whatever version and
// state. An error if it is another file or a folder, which is then nobody's to move or to replace,
// or if there is no folder that it could be written to.
Result<void> check_tenant_file(const std::string& path);
// Errors name the file and what is wrong with it.
Result<TenantTexts> read_tenant_file(const std::string& path, uint64_t tokenizer, int32_t vocabulary);
// Replaces the file.
Result<void> write_tenant_file(const std::string& path, uint64_t tokenizer, const TenantTexts& texts);

}  // namespace slipstream
