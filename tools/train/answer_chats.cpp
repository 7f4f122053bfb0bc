// `slipstream-train answer`: new answers of the target to the prompts of chats.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/write_whole.h"
#include "common/config/cpu_quota.h"
#include "common/kv/block_pool.h"
#include "tools/train/chat_answerer.h"
#include "tools/train/commands.h"
#include "tools/train/progress_line.h"

namespace slipstream::train {
namespace {

constexpr int32_t kChatsAtOnce = 64;

std::string text_of(std::span<const ChatDocument> chats) {
  std::string text;
  for (const ChatDocument& chat : chats) {
    text += fmt::format("[{{\"token_ids\": [{}], \"answer\": {}}}]\n", fmt::join(chat.tokens, ", "), chat.answer);
  }
  return text;
}

}  // namespace

Result<RunEnd> answer_chats(const AnswerOptions& options, std::stop_token stop) {
  TRY(const LlamaConfig config, read_llama_config(options.model));
  TRY(std::vector<ChatDocument> chats, read_chats(options.documents, config));
  const int64_t longest_prompt = config.context_max - options.answers.answer_tokens;
  std::erase_if(chats, [&](const ChatDocument& chat) { return chat.answer > longest_prompt; });
  if (chats.empty()) return fail("no chat of these files has a prompt that leaves room for an answer");
  const auto prompt = static_cast<int32_t>(std::ranges::max(chats, {}, &ChatDocument::answer).answer);
  const int32_t blocks = blocks_of_a_sequence(prompt + options.answers.answer_tokens);
  TRY(std::shared_ptr<Device> device,
      make_device(
          {.name = options.device, .threads = options.threads > 0 ? options.threads : cpu_quota(), .path = options.path}));
  TRY(LanguageModel model, LanguageModel::load(options.model, device, {.cache_blocks = blocks * kChatsAtOnce}));
  RateLine progress(static_cast<int64_t>(chats.size()), "chats");
  TRY(const std::vector<ChatDocument> answered, answer_all(model, chats, options.answers, kChatsAtOnce, [&] {
        progress.add(1, RateLine::Clock::now());
        return !stop.stop_requested();
      }));
  TRY_VOID(replace_whole(options.out.string(), text_of(answered), "the chats"));
  int64_t tokens = 0;
  for (const ChatDocument& chat : answered) tokens += static_cast<int64_t>(chat.tokens.size());
  fmt::print("{} holds {} chats of {} tokens\n", options.out.string(), answered.size(), tokens);
  return RunEnd::finished;
}

}  // namespace slipstream::train
