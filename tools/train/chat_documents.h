// Reads the chats that a target wrote (target_documents.py): each line of the file is a JSON list
// of {"token_ids": [...], "answer": n}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream::train {

// Invariant: 0 < answer < tokens.size().
struct ChatDocument {
  std::vector<TokenId> tokens;
  int64_t answer = 0;  // index of the answer's first token
};

// All chats of a file, in order. Errors name the line. A last line without its end is left out: its
// writer is still at it.
Result<std::vector<ChatDocument>> read_chat_documents(const std::filesystem::path& file, int32_t vocabulary);

// Those of several files. An error also if one is longer than the model's context.
Result<std::vector<ChatDocument>> read_chats(std::span<const std::filesystem::path> files, const LlamaConfig& model);
// Tokens of the longest of these chats.
int64_t longest(std::span<const ChatDocument> chats);

}  // namespace slipstream::train
