// Lets a target answer chats, and a drafter draft behind every token of the answers: what a draft
// trace holds. Both run as they are served, in their served formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/drafting/extra_tokens.h"
#include "common/model/language_model.h"
#include "common/model/make_device.h"
#include "common/model/step_plan.h"
#include "tools/train/chat_answerer.h"
#include "tools/train/draft_trace.h"
#include "tools/train/traced_drafter.h"

namespace slipstream::train {

struct TraceSettings {
  AnswerSettings answers;
  int32_t depth = 4;  // of a draft
};

class DraftTracer {
 public:
  // Errors: those of make_device() and of LanguageModel::load(). tokens_max: of a prompt;
  // chats_max: traced at once.
  static Result<DraftTracer> load(const std::filesystem::path& target, const DrafterPath& drafter, const DeviceOptions& device,
                                  const TraceSettings& settings, int32_t tokens_max, int32_t chats_max);

  // first: the number of the first chat, which gives its seed. REQUIRES: at most chats_max chats,
  // whose prompts, the tokens before their answers, have at most tokens_max tokens.
  Result<std::vector<TracedChat>> trace(std::span<const ChatDocument> chats, int64_t first);
  const LanguageModel& target() const { return *target_; }
  const TracedDrafter& drafter() const { return drafter_; }

 private:
  struct Chat {
    AnsweredChat answered;
    TracedChat traced;
  };
  // A chain that grows behind the token before answer token `from`.
  struct Chain {
    Chat* chat = nullptr;
    int32_t from = 0, limit = 0;  // limit: nodes that it may have
    ContextWords words;           // at its root, as the service would have had them
    std::vector<TokenId> drafted;

    int32_t root() const { return chat->answered.prompt + from - 1; }
  };

  DraftTracer(std::unique_ptr<LanguageModel> target, TracedDrafter drafter, const TraceSettings& settings,
              int32_t blocks_of_a_chat, int32_t chats_max)
      : target_(std::move(target)),
        drafter_(std::move(drafter)),
        settings_(settings),
        blocks_(blocks_of_a_chat),
        chats_max_(chats_max) {}
  Result<void> answer(std::span<Chat> chats, ChatAnswerer& answerer);
  Result<void> draft(std::span<Chain> chains);
  Chain chain(Chat& chat, int32_t from, int32_t limit) const;
  Result<void> forward(std::span<Chain* const> chains, int32_t depth);

  std::unique_ptr<LanguageModel> target_;  // at its place, which the drafter knows
  TracedDrafter drafter_;
  TraceSettings settings_;
  int32_t blocks_, chats_max_;
  StepPlan plan_;
  ExtraTokens extra_{*target_};
};

}  // namespace slipstream::train
