// Reads the chats that a target wrote (target_documents.py): each line of the file is a JSON list
// of {"token_ids": [...], "answer": n}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace slipstream::train {

// Invariant: 0 < answer < tokens.size().
struct ChatDocument {
  std::vector<TokenId> tokens;
  int64_t answer = 0;  // index of the answer's first token
};

// All chats of a file, in order. Errors name the line. A last line without its end is left out: its
// writer is still at it.
Result<std::vector<ChatDocument>> read_chat_documents(const std::filesystem::path& file, int32_t vocabulary);

}  // namespace slipstream::train
