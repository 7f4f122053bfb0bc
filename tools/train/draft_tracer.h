// Lets a target answer chats, and its draft head draft behind every token of the answers: what a
// draft trace holds. Both run as they are served, in their served formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/kv/block_table.h"
#include "common/model/language_model.h"
#include "common/model/step_plan.h"
#include "tools/train/chat_documents.h"
#include "tools/train/draft_trace.h"

namespace slipstream::train {

struct TraceSettings {
  int32_t answer_tokens = 128;  // of an answer, at most
  int32_t depth = 4;            // of a draft
  float temperature = 0;
  uint64_t seed = 1;  // of the first chat; each later chat's is one more
};

class DraftTracer {
 public:
  // Errors: those of LanguageModel::load(). tokens_max: of a prompt; chats_max: traced at once.
  static Result<DraftTracer> load(const std::filesystem::path& target, const std::filesystem::path& head, int threads,
                                  const TraceSettings& settings, int32_t tokens_max, int32_t chats_max);

  // first: the number of the first chat, which gives its seed. REQUIRES: at most chats_max chats,
  // whose prompts, the tokens before their answers, have at most tokens_max tokens.
  Result<std::vector<TracedChat>> trace(std::span<const ChatDocument> chats, int64_t first);
  const LanguageModel& model() const { return model_; }

 private:
  struct Chat {
    std::vector<TokenId> tokens;
    int32_t prompt = 0;
    uint64_t seed = 0;
    bool ended = false;
    BlockTable table;
    TracedChat traced;

    int32_t size() const { return static_cast<int32_t>(tokens.size()); }
    int32_t answer() const { return size() - prompt; }
  };
  // A chain that grows behind the token before answer token `from`.
  struct Chain {
    Chat* chat = nullptr;
    int32_t from = 0, limit = 0;  // limit: nodes that it may have
    std::vector<TokenId> drafted;

    int32_t root() const { return chat->prompt + from - 1; }
  };

  DraftTracer(LanguageModel model, const TraceSettings& settings, int32_t blocks_of_a_chat, int32_t chats_max)
      : model_(std::move(model)), settings_(settings), blocks_(blocks_of_a_chat), chats_max_(chats_max) {}
  Result<void> prefill(Chat& chat);
  Result<void> answer(std::span<Chat> chats);
  Result<void> answer_once(std::span<Chat* const> chats);
  Result<void> draft(std::span<Chain> chains);
  Result<void> forward(std::span<Chain* const> chains, int32_t depth);
  void add_row(const Chat& chat, int32_t position);
  StepPlan& cleared();

  LanguageModel model_;
  TraceSettings settings_;
  int32_t blocks_, chats_max_;
  StepPlan plan_;
};

}  // namespace slipstream::train
