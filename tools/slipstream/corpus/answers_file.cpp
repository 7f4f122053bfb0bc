#include "tools/slipstream/corpus/answers_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <nlohmann/json.hpp>

#include "common/base/write_whole.h"
#include "common/speculation/ngram_counts.h"

namespace slipstream::command {

Result<AnswersFile> AnswersFile::open(const std::filesystem::path& path) {
  AnswersFile answers(path);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return answers;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail("cannot read {}; is the path right?", path.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  size_t whole = 0;  // bytes of lines that have their end
  for (size_t number = 1, end = 0; (end = text.find('\n', whole)) != std::string::npos; ++number) {
    TRY_VOID(answers.read(std::string_view(text).substr(whole, end - whole), number));
    whole = end + 1;
  }
  if (whole < text.size()) std::filesystem::resize_file(path, whole, error);
  if (error) return fail("cannot write {}: {}", path.string(), error.message());
  return answers;
}

Result<void> AnswersFile::read(std::string_view line, size_t number) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
  const bool whole = entry.is_object() && entry.contains("token_ids") && entry["token_ids"].is_array();
  const auto ids = [](const nlohmann::json& id) { return id.is_number_integer() && id >= 0 && id <= INT32_MAX; };
  if (!whole || !std::ranges::all_of(entry["token_ids"], ids)) {
    return fail(
        "{}: line {} is no answer; each must be an object with \"prompt\", a text, and \"token_ids\", a list of token ids",
        path_.string(), number);
  }
  if (entry.contains("prompt") && entry["prompt"].is_string()) prompts_.insert(entry["prompt"].get<std::string>());
  append(entry["token_ids"].get<std::vector<TokenId>>());
  return {};
}

Result<void> AnswersFile::add(const std::string& prompt, const std::vector<TokenId>& ids) {
  const nlohmann::ordered_json entry{{"prompt", prompt}, {"token_ids", ids}};
  const int error = write_whole(path_.string(), O_CREAT | O_APPEND, entry.dump() + '\n');
  if (error != 0) return fail("cannot write {}: {}", path_.string(), std::strerror(error));
  prompts_.insert(prompt);
  append(ids);
  return {};
}

void AnswersFile::append(const std::vector<TokenId>& ids) {
  if (ids.empty()) return;
  tokens_.insert(tokens_.end(), ids.begin(), ids.end());
  tokens_.push_back(kTextEnd);
  ++answers_;
}

}  // namespace slipstream::command
