#include "tools/train/chat_answerer.h"

#include <algorithm>
#include <list>
#include <utility>

#include "common/base/check.h"
#include "common/base/limits.h"
#include "common/kv/block_pool.h"

namespace slipstream::train {

AnsweredChat ChatAnswerer::begin(const ChatDocument& chat, int64_t number, BlockPool& pool) const {
  return {.tokens = {chat.tokens.begin(), chat.tokens.begin() + chat.answer},
          .prompt = static_cast<int32_t>(chat.answer),
          .seed = settings_.seed + static_cast<uint64_t>(number),
          .table = BlockTable(pool)};
}

StepPlan& ChatAnswerer::cleared() {
  plan_.clear();
  plan_.blocks_max = blocks_;
  return plan_;
}

void ChatAnswerer::add_row(const AnsweredChat& chat, int32_t position) {
  plan_.add({.token = chat.tokens[static_cast<size_t>(position)],
             .position = position,
             .slot = chat.table.slot(position),
             .parent_slot = position == 0 ? -1 : chat.table.slot(position - 1),
             .sequence = plan_.sequences() - 1,
             .visible = position + 1});
}

Result<void> ChatAnswerer::prefill(AnsweredChat& chat, int32_t room) {
  CHECK(chat.table.reserve(chat.prompt + settings_.answer_tokens + room), "a prompt of {} tokens", chat.prompt);
  return read(chat, 0, chat.prompt - 1);
}

Result<void> ChatAnswerer::read(const AnsweredChat& chat, int32_t begin, int32_t end) {
  for (; begin < end; begin += model_.step_rows()) {
    cleared().add_sequence(chat.table.blocks());
    for (int32_t at = begin; at < std::min(end, begin + model_.step_rows()); ++at) add_row(chat, at);
    TRY_VOID(model_.run(plan_.view()));
  }
  return {};
}

Result<void> ChatAnswerer::add_token(std::span<AnsweredChat* const> chats) {
  cleared();
  for (const AnsweredChat* chat : chats) {
    plan_.add_sequence(chat->table.blocks());
    add_row(*chat, chat->size() - 1);
    plan_.want({.seed = chat->seed,
                .choice = 0,
                .position = static_cast<uint32_t>(chat->answer()),
                .params = {.temperature = settings_.temperature}});
  }
  TRY(const std::span<const TokenId> chosen, model_.run(plan_.view()));
  for (size_t i = 0; i < chats.size(); ++i) {
    chats[i]->tokens.push_back(chosen[i]);
    const bool says_end = std::ranges::binary_search(model_.config().eos_ids, chosen[i]);
    chats[i]->ended = says_end || chats[i]->answer() >= settings_.answer_tokens;
  }
  return {};
}

Result<std::vector<ChatDocument>> answer_all(LanguageModel& model, std::span<const ChatDocument> chats,
                                             const AnswerSettings& settings, int32_t at_once,
                                             const std::function<bool()>& answered) {
  int64_t prompt = 0;
  for (const ChatDocument& chat : chats) prompt = std::max(prompt, chat.answer);
  const int32_t blocks = blocks_of_a_sequence(static_cast<int32_t>(prompt) + settings.answer_tokens);
  BlockPool pool(model.cache_blocks());
  CHECK(model.cache_blocks() >= blocks * at_once, "{} chats of {} blocks", at_once, blocks);
  ChatAnswerer answerer(model, settings, blocks);
  struct Going {
    size_t number = 0;
    AnsweredChat chat;
  };
  std::list<Going> going;
  std::vector<ChatDocument> results(chats.size());
  for (size_t next = 0; next < chats.size() || !going.empty();) {
    // A chat takes the place of one that has ended.
    while (next < chats.size() && going.size() < static_cast<size_t>(at_once)) {
      going.push_back({next, answerer.begin(chats[next], static_cast<int64_t>(next), pool)});
      TRY_VOID(answerer.prefill(going.back().chat));
      ++next;
    }
    std::vector<AnsweredChat*> open;
    for (Going& each : going) open.push_back(&each.chat);
    TRY_VOID(answerer.add_token(open));
    for (auto at = going.begin(); at != going.end();) {
      if (!at->chat.ended) {
        ++at;
        continue;
      }
      results[at->number] = {.tokens = std::move(at->chat.tokens), .answer = at->chat.prompt};
      at = going.erase(at);
      if (!answered()) return fail("stopped: answers are written whole, so nothing of these was kept");
    }
  }
  return results;
}

}  // namespace slipstream::train
