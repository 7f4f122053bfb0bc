#include "tools/train/chat_documents.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <simdjson.h>

#include "common/checkpoint/mapped_file.h"

namespace slipstream::train {
namespace {

bool read_chat(simdjson::dom::element chat, int32_t vocabulary, ChatDocument& document) {
  simdjson::dom::array ids;
  if (chat["token_ids"].get(ids) != simdjson::SUCCESS) return false;
  for (const simdjson::dom::element each : ids) {
    int64_t id = -1;
    if (each.get(id) != simdjson::SUCCESS || id < 0 || id >= vocabulary) return false;
    document.tokens.push_back(static_cast<TokenId>(id));
  }
  return chat["answer"].get(document.answer) == simdjson::SUCCESS && document.answer > 0 &&
         document.answer < static_cast<int64_t>(document.tokens.size());
}

}  // namespace

Result<std::vector<ChatDocument>> read_chat_documents(const std::filesystem::path& file, int32_t vocabulary) {
  TRY(const MappedFile mapped, MappedFile::open(file));
  std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
  simdjson::dom::parser parser;
  std::vector<ChatDocument> documents;
  for (size_t number = 1; text.find('\n') != text.npos; ++number) {
    const simdjson::padded_string line(text.substr(0, text.find('\n')));
    text.remove_prefix(line.size() + 1);
    simdjson::dom::array chats;
    bool good = parser.parse(line).get(chats) == simdjson::SUCCESS;
    for (size_t i = 0; good && i < chats.size(); ++i) {
      good = read_chat(chats.at(i).value_unsafe(), vocabulary, documents.emplace_back());
    }
    if (!good) {
      return fail("{}: line {} is no list of chats with \"token_ids\" below {} and the index \"answer\" of one of them",
                  file.string(), number, vocabulary);
    }
  }
  if (documents.empty()) return fail("{} has no chats", file.string());
  return documents;
}

Result<std::vector<ChatDocument>> read_chats(std::span<const std::filesystem::path> files, const LlamaConfig& model) {
  std::vector<ChatDocument> chats;
  for (const auto& file : files) {
    TRY(std::vector<ChatDocument> more, read_chat_documents(file, model.vocabulary));
    std::ranges::move(more, std::back_inserter(chats));
  }
  if (const int64_t tokens = longest(chats); tokens > model.context_max) {
    return fail("a chat has {} tokens, and the model's context {}", tokens, model.context_max);
  }
  return chats;
}

int64_t longest(std::span<const ChatDocument> chats) {
  size_t tokens = 0;
  for (const ChatDocument& chat : chats) tokens = std::max(tokens, chat.tokens.size());
  return static_cast<int64_t>(tokens);
}

}  // namespace slipstream::train
