// Lets a target answer the prompts of chats, as it is served: many at once, a token of each in a
// pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/kv/block_table.h"
#include "common/model/language_model.h"
#include "common/model/make_device.h"
#include "common/model/step_plan.h"
#include "tools/train/chat_documents.h"

namespace slipstream::train {

struct AnswerSettings {
  int32_t answer_tokens = 128;  // of an answer, at most
  float temperature = 0;
  uint64_t seed = 1;  // of the first chat; each later chat's is one more
};

struct AnsweredChat {
  std::vector<TokenId> tokens;  // the prompt's, and the answer's behind them
  int32_t prompt = 0;
  uint64_t seed = 0;
  bool ended = false;
  BlockTable table;

  int32_t size() const { return static_cast<int32_t>(tokens.size()); }
  int32_t answer() const { return size() - prompt; }
};

class ChatAnswerer {
 public:
  // `model` outlives this. blocks: of a chat, with its answer, at most.
  ChatAnswerer(LanguageModel& model, const AnswerSettings& settings, int32_t blocks)
      : model_(model), settings_(settings), blocks_(blocks) {}

  // A chat without its answer. number: of the chat, which gives its seed.
  AnsweredChat begin(const ChatDocument& chat, int64_t number, BlockPool& pool) const;
  // All of the prompt but its last token, whose pass gives the answer's first. room: tokens behind
  // the answer that the cache has place for. REQUIRES: the pool has as many blocks.
  Result<void> prefill(AnsweredChat& chat, int32_t room = 0);
  // Computes a chat's tokens from `begin` to before `end`. Its table has room for them.
  Result<void> read(const AnsweredChat& chat, int32_t begin, int32_t end);
  // Adds a token to each of these answers.
  Result<void> add_token(std::span<AnsweredChat* const> chats);

  // An empty plan for steps of such chats, and a row of a chat's context, behind all before it.
  StepPlan& cleared();
  void add_row(const AnsweredChat& chat, int32_t position);

 private:
  LanguageModel& model_;
  AnswerSettings settings_;
  int32_t blocks_;
  StepPlan plan_;
};

// Answers all of these chats anew, and gives them back in order; at_once: how many at a time.
// answered: called after each; false ends it with an error.
Result<std::vector<ChatDocument>> answer_all(LanguageModel& model, std::span<const ChatDocument> chats,
                                             const AnswerSettings& settings, int32_t at_once,
                                             const std::function<bool()>& answered);

}  // namespace slipstream::train
