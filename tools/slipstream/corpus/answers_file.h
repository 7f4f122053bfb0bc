// The answers from which a corpus is made: JSON lines, {"prompt": "...", "token_ids": [...]}. A
// file grows by whole lines, so a run that was killed goes on where it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace slipstream::command {

class AnswersFile {
 public:
  // Reads a file; one that does not exist has no answers. A last line without its end was cut when
  // its writer was killed, and is removed. Error: which line is wrong, or that it cannot be read.
  static Result<AnswersFile> open(const std::filesystem::path& path);

  bool has(const std::string& prompt) const { return prompts_.contains(prompt); }
  // All answers one behind the other, a kTextEnd behind each.
  const std::vector<TokenId>& tokens() const { return tokens_; }
  size_t answers() const { return answers_; }
  // Adds an answer, here and at the end of the file.
  Result<void> add(const std::string& prompt, const std::vector<TokenId>& ids);

 private:
  explicit AnswersFile(std::filesystem::path path) : path_(std::move(path)) {}
  Result<void> read(std::string_view line, size_t number);
  void append(const std::vector<TokenId>& ids);

  std::filesystem::path path_;
  std::unordered_set<std::string> prompts_;
  std::vector<TokenId> tokens_;
  size_t answers_ = 0;
};

}  // namespace slipstream::command
