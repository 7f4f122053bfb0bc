#include "common/drafting/tenant_file.h"

#include <sys/types.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/base/write_whole.h"
#include "common/checkpoint/mapped_file.h"
#include "common/config/look_up_file.h"
#include "common/corpus/sealed_file.h"

namespace slipstream {
namespace {

constexpr SealedKind kTenantFile{
    .magic = kLookUpFileMagic, .version = 1, .what = kLookUpFileWords, .remedy = kLookUpFileRemedy};
constexpr mode_t kOwnerOnly = 0600;

struct Record {
  TenantId tenant = kNoTenant;
  uint64_t tokens = 0;
};

void append(std::string& body, std::span<const std::byte> bytes) {
  body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

Result<TenantTexts> read_tenant_file(const std::string& path, uint64_t tokenizer, int32_t vocabulary) {
  TRY(const MappedFile file, MappedFile::open(path));
  TRY(std::span<const std::byte> rest, unseal(kTenantFile, tokenizer, file.bytes(), path));
  TenantTexts texts;
  while (!rest.empty()) {
    Record record;
    if (rest.size() < sizeof(record)) return fail("{} ends within a record: {}", path, kTenantFile.remedy);
    std::memcpy(&record, rest.data(), sizeof(record));
    rest = rest.subspan(sizeof(record));
    if (record.tokens > rest.size() / sizeof(TokenId)) return fail("{} ends within a text: {}", path, kTenantFile.remedy);
    std::vector<TokenId> tokens(record.tokens);
    std::memcpy(tokens.data(), rest.data(), tokens.size() * sizeof(TokenId));
    rest = rest.subspan(tokens.size() * sizeof(TokenId));
    const auto known = [&](TokenId token) { return kTextEnd <= token && token < vocabulary; };
    if (!std::ranges::all_of(tokens, known)) return fail("{} has tokens that the model has not: {}", path, kTenantFile.remedy);
    texts.append(record.tenant, tokens);
  }
  return texts;
}

Result<void> write_tenant_file(const std::string& path, uint64_t tokenizer, const TenantTexts& texts) {
  std::string body;
  texts.each([&](TenantId tenant, std::span<const TokenId> text) {
    const Record record{.tenant = tenant, .tokens = text.size()};
    append(body, std::as_bytes(std::span(&record, 1)));
    append(body, std::as_bytes(text));
  });
  const std::string header = seal(kTenantFile, tokenizer, std::as_bytes(std::span(body)));
  return replace_whole(path, header + body, "the file of remembered answers", kOwnerOnly);
}

}  // namespace slipstream
