#include "common/drafting/look_up_texts.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/config/look_up_file.h"
#include "common/drafting/tenant_file.h"

namespace slipstream {
namespace {

LookUp look_up_of(std::string_view name) {
  return name == kLookUpOwn ? LookUp::own : name == kLookUpAll ? LookUp::all : LookUp::tenant;
}

// The name, or the first NAME-2, NAME-3, ... that no file has.
std::string free_name(const std::string& name) {
  std::error_code error;
  std::string free = name;
  for (int copy = 2; std::filesystem::exists(free, error); ++copy) free = fmt::format("{}-{}", name, copy);
  return free;
}

}  // namespace

Result<std::shared_ptr<LookUpTexts>> LookUpTexts::open(const LookUpOptions& options, uint64_t tokenizer, int32_t vocabulary) {
  auto texts = std::make_shared<LookUpTexts>(look_up_of(options.where));
  for (const std::string& path : options.corpora) {
    TRY(Corpus corpus, Corpus::open(path, tokenizer, vocabulary));
    log_info("look-up finds drafts in {}: {} tokens", path, corpus.tokens());
    texts->corpora_.push_back(std::move(corpus));
  }
  texts->file_ = options.file;
  texts->tokenizer_ = tokenizer;
  if (options.file.empty()) return texts;
  TRY(FileLock lock, take_look_up_file(options.file));
  texts->lock_.emplace(std::move(lock));
  std::error_code error;
  if (!std::filesystem::exists(options.file, error)) return texts;
  auto read = read_tenant_file(options.file, tokenizer, vocabulary);
  if (read) {
    texts->tenants_ = *std::move(read);
    log_info("look-up has read earlier answers from {}", options.file);
  } else {
    const std::string aside = free_name(options.file + ".unusable");
    std::filesystem::rename(options.file, aside, error);
    if (error) return fail("{}, and it cannot be renamed to {}: {}", read.error().message, aside, error.message());
    log_warning("{}; look-up begins without earlier answers, and the file is now {}", read.error().message, aside);
  }
  return texts;
}

std::vector<SortedText> LookUpTexts::corpora() const {
  std::vector<SortedText> corpora;
  for (const Corpus& corpus : corpora_) corpora.push_back(corpus.text());
  return corpora;
}

Result<void> LookUpTexts::save() const {
  if (file_.empty()) return {};
  TRY_VOID(write_tenant_file(file_, tokenizer_, tenants_));
  log_info("look-up wrote what it remembers to {}", file_);
  return {};
}

}  // namespace slipstream
