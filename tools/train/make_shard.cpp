#include <fmt/format.h>

#include "common/checkpoint/fingerprint.h"
#include "common/model_text/read_tokenizer.h"
#include "tools/train/chat_documents.h"
#include "tools/train/commands.h"
#include "tools/train/documents.h"
#include "tools/train/token_shard.h"

namespace slipstream::train {

Result<void> make_shard(const ShardOptions& options) {
  TRY(const LlamaConfig config, read_llama_config(options.model));
  TRY(const Tokenizer tokenizer, read_tokenizer(options.model));
  TRY(const uint64_t hash, hash_tokenizer(options.model));
  const std::vector<TokenId> begin = tokenizer.prefix();
  const TokenId end = config.eos_ids.front();
  std::vector<TokenId> ids;
  int64_t texts = 0, chats = 0;
  for (const auto& file : options.chats) {
    TRY(const std::vector<ChatDocument> read, read_chat_documents(file, config.vocabulary));
    for (const ChatDocument& chat : read) ids.insert(ids.end(), chat.tokens.begin(), chat.tokens.end());
    chats += static_cast<int64_t>(read.size());
  }
  for (const auto& file : options.texts) {
    TRY_VOID(each_document(file, [&](std::string_view text) -> Result<void> {
      ids.insert(ids.end(), begin.begin(), begin.end());
      TRY_VOID(append_ids(tokenizer, text, ids));
      ids.push_back(end);
      ++texts;
      return {};
    }));
  }
  TRY_VOID(write_shard(options.shard, hash, ids));
  fmt::print("{} holds {} texts, {} chats, {} tokens; train on it with `slipstream-train run --data {}`\n",
             options.shard.string(), texts, chats, ids.size(), options.shard.string());
  return {};
}

}  // namespace slipstream::train
