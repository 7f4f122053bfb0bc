// The texts in which look-up finds drafts beside a request's own: corpora, which are for everybody,
// and what tenants were answered (tenant_texts.h), which may be kept in a file while the process is
// not there.
//
//   TRY(const auto texts, LookUpTexts::open(options.look_up, tokenizer, vocabulary));
//   ... NgramMethod(texts) drafts ...
//   TRY_VOID(texts->save());
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file_lock.h"
#include "common/base/result.h"
#include "common/config/look_up_options.h"
#include "common/corpus/corpus.h"
#include "common/drafting/tenant_texts.h"

namespace slipstream {

// Where look-up looks for earlier answers.
enum class LookUp : uint8_t {
  own,     // nowhere: in the request's own text only
  tenant,  // in what requests of the same tenant were answered
  all      // in what all requests were answered: only where each client may see every other's text
};

class LookUpTexts {
 public:
  explicit LookUpTexts(LookUp where = LookUp::tenant) : where_(where) {}

  // Opens the corpora and reads the file of answers. An error names a corpus and what is wrong with
  // it, or a file for answers that is another file, cannot be written, or is another process's
  // (config/look_up_file.h; this one holds it until the texts are destroyed). One of answers that
  // cannot be used is renamed to FILE.unusable, FILE.unusable-2, ..., and the log says why.
  static Result<std::shared_ptr<LookUpTexts>> open(const LookUpOptions& options, uint64_t tokenizer, int32_t vocabulary);

  LookUp where() const { return where_; }
  std::vector<SortedText> corpora() const;
  TenantTexts& tenants() { return tenants_; }

  // Writes the answers to the file of the options, readable by this user only, if there is one.
  Result<void> save() const;

 private:
  LookUp where_;
  std::string file_;
  std::optional<FileLock> lock_;  // of file_; none: there is no file
  uint64_t tokenizer_ = 0;
  std::vector<Corpus> corpora_;
  TenantTexts tenants_;
};

}  // namespace slipstream
