// A corpus: a file of texts in which look-up finds drafts for every request. It is public, by the
// choice of the operator who names it: no tenant's text belongs in it.
//
//   header     sealed_file.h, magic SLIPCORP
//   tokens     uint64: how many
//   positions  uint64: how many
//   [tokens]   int32: the texts, kTextEnd (-1) behind each
//   [positions] uint32: SortedText::sort(tokens), the index
//
// The file is mapped: it takes memory as the page cache has room, once for all processes of a
// machine. Thread-safe: nothing changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/mapped_file.h"
#include "common/speculation/sorted_text.h"

namespace slipstream {

inline constexpr int64_t kCorpusTokensMax = 1 << 28;  // 2 GB

class Corpus {
 public:
  // Reads the whole file once, to check it: it may come from anywhere. Errors name the file, and
  // say what is wrong and what to do.
  static Result<Corpus> open(const std::filesystem::path& path, uint64_t tokenizer, int32_t vocabulary);

  const SortedText& text() const { return text_; }  // it views this corpus
  int64_t tokens() const { return tokens_; }

 private:
  Corpus(MappedFile file, SortedText text, int64_t tokens) : file_(std::move(file)), text_(text), tokens_(tokens) {}

  MappedFile file_;
  SortedText text_;
  int64_t tokens_;
};

// Writes a corpus of these tokens, with a kTextEnd behind each text, in place of what the file had.
Result<void> write_corpus(const std::filesystem::path& path, uint64_t tokenizer, std::span<const TokenId> tokens);

}  // namespace slipstream
