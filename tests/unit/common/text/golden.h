// The small tokenizer and the golden files of data/ (data/README.md says what makes them).
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/text/chat_template.h"
#include "common/text/tokenizer.h"

namespace slipstream {

inline std::filesystem::path source_folder() { return SLIPSTREAM_SOURCE_FOLDER; }
inline std::filesystem::path data_folder() { return source_folder() / "tests/unit/common/text/data"; }

// One section of a golden file; by value, so that a loop over it holds it.
inline nlohmann::json golden(const std::string& section, const std::string& file = "golden.json") {
  return nlohmann::json::parse(std::ifstream(data_folder() / file)).at(section);
}

inline Tokenizer tiny_tokenizer() { return Tokenizer::load(data_folder() / "tokenizer.json").value(); }

inline std::vector<ChatMessage> messages_of(const nlohmann::json& chat) {
  std::vector<ChatMessage> messages;
  for (const auto& turn : chat.at("messages")) messages.push_back({turn.at(0), turn.at(1)});
  return messages;
}

// A folder of its own for one test, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "slipstream_text_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace slipstream
