#include "tests/e2e/support/prompt_ids.h"

#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "common/text/chat_prompt.h"

namespace slipstream::e2e {

std::vector<TokenId> prompt_ids(const std::filesystem::path& model, const std::string& words) {
  const auto tokenizer = Tokenizer::load(model / "tokenizer.json");
  if (!tokenizer) throw std::runtime_error(tokenizer.error().message);
  const auto chat = ChatTemplate::load(model);
  if (!chat) throw std::runtime_error(chat.error().message);
  const std::vector<ChatMessage> messages{{"user", words}};
  auto ids = chat_prompt(*tokenizer, *chat, messages);
  if (!ids) throw std::runtime_error(ids.error().message);
  return *std::move(ids);
}

void write_answers(const std::filesystem::path& file, const std::vector<Known>& answers) {
  nlohmann::json list = nlohmann::json::array();
  for (const Known& answer : answers) {
    std::vector<TokenId> tokens = answer.prompt;
    tokens.insert(tokens.end(), answer.output.begin(), answer.output.end());
    list.push_back({{"tokens", tokens}, {"seed", answer.seed}});
  }
  std::ofstream(file) << list;
}

}  // namespace slipstream::e2e
