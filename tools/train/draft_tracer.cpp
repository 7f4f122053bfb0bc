#include "tools/train/draft_tracer.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/limits.h"
#include "common/model/cpu/cpu_device.h"
#include "tools/train/feature_collector.h"

namespace slipstream::train {

Result<DraftTracer> DraftTracer::load(const std::filesystem::path& target, const std::filesystem::path& head, int threads,
                                      const TraceSettings& settings, int32_t tokens_max, int32_t chats_max) {
  const int32_t blocks = blocks_of_a_sequence(tokens_max + settings.answer_tokens);
  TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = threads}));
  TRY(LanguageModel model,
      LanguageModel::load(target, device,
                          {.cache_blocks = blocks * chats_max, .head = head, .head_ranked = 1, .head_states = true}));
  return DraftTracer(std::move(model), settings, blocks, chats_max);
}

StepPlan& DraftTracer::cleared() {
  plan_.clear();
  plan_.blocks_max = blocks_;
  return plan_;
}

// A row of the chat's context, behind all tokens before it.
void DraftTracer::add_row(const Chat& chat, int32_t position) {
  plan_.add({.token = chat.tokens[static_cast<size_t>(position)],
             .position = position,
             .slot = chat.table.slot(position),
             .parent_slot = position == 0 ? -1 : chat.table.slot(position - 1),
             .sequence = plan_.sequences() - 1,
             .visible = position + 1});
}

// All of the prompt but its last token, whose pass gives the answer's first.
Result<void> DraftTracer::prefill(Chat& chat) {
  for (int32_t begin = 0; begin < chat.prompt - 1; begin += kStepRowsMax) {
    cleared().add_sequence(chat.table.blocks());
    for (int32_t at = begin; at < std::min(chat.prompt - 1, begin + kStepRowsMax); ++at) add_row(chat, at);
    TRY_VOID(model_.run(plan_.view()));
  }
  return {};
}

// Adds a token to each of these answers.
Result<void> DraftTracer::answer_once(std::span<Chat* const> chats) {
  cleared();
  for (const Chat* chat : chats) {
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

Result<void> DraftTracer::answer(std::span<Chat> chats) {
  for (Chat& chat : chats) {
    CHECK(chat.table.reserve(chat.prompt + settings_.answer_tokens + settings_.depth), "a prompt of {} tokens", chat.prompt);
    TRY_VOID(prefill(chat));
  }
  for (;;) {
    std::vector<Chat*> going;
    for (Chat& chat : chats) {
      if (!chat.ended) going.push_back(&chat);
    }
    if (going.empty()) return {};
    TRY_VOID(answer_once(going));
  }
}

// A pass of the head over the newest node of each chain, or over the roots at depth 0: it tells the
// state behind that node, and the chain's next one.
Result<void> DraftTracer::forward(std::span<Chain* const> chains, int32_t depth) {
  cleared();
  for (const Chain* chain : chains) {
    const Chat& chat = *chain->chat;
    const int32_t root = chain->root(), position = root + depth;
    plan_.add({.token = depth == 0 ? chat.tokens[static_cast<size_t>(root)] : chain->drafted.back(),
               .position = position,
               .slot = chat.table.slot(position),
               .parent_slot = position == 0 ? -1 : chat.table.slot(position - 1),
               .sequence = plan_.add_sequence(chat.table.blocks()),
               .visible = root,
               .ancestors = (uint64_t{2} << depth) - 1});
    plan_.want({.seed = chat.seed,
                .choice = 0,
                .position = static_cast<uint32_t>(chain->from + depth),
                .params = {.temperature = settings_.temperature}});
  }
  TRY_VOID(model_.draft(plan_.view()));
  const auto hidden = static_cast<size_t>(model_.config().hidden);
  for (size_t i = 0; i < chains.size(); ++i) {
    Chain& chain = *chains[i];
    TracedDraft& draft = chain.chat->traced.drafts[static_cast<size_t>(chain.from)];
    if (depth > 0) {
      std::ranges::transform(model_.drafted_states().subspan(i * hidden, hidden), std::back_inserter(draft.states), to_bf16);
    }
    if (depth == chain.limit) continue;
    const Ranked best = model_.drafted(i).front();
    const TokenId chosen = chain.chat->tokens[static_cast<size_t>(chain.root() + depth + 1)];
    draft.nodes.push_back({.confidence = best.confidence, .matched = best.token == chosen ? 1 : 0});
    chain.drafted.push_back(best.token);
  }
  return {};
}

Result<void> DraftTracer::draft(std::span<Chain> chains) {
  for (int32_t depth = 0; depth <= settings_.depth; ++depth) {
    std::vector<Chain*> growing;
    for (Chain& chain : chains) {
      if (depth <= chain.limit) growing.push_back(&chain);
    }
    if (!growing.empty()) TRY_VOID(forward(growing, depth));
  }
  return {};
}

// The drafts of an answer are made from its last token to its first: one overwrites what the cache
// has of the tokens behind its root, which no earlier draft reads.
Result<std::vector<TracedChat>> DraftTracer::trace(std::span<const ChatDocument> chats, int64_t first) {
  CHECK(static_cast<int32_t>(chats.size()) <= chats_max_, "{} chats at once", chats.size());
  BlockPool pool(blocks_ * chats_max_);
  std::vector<Chat> traced;
  for (const ChatDocument& chat : chats) {
    traced.push_back({.tokens = {chat.tokens.begin(), chat.tokens.begin() + chat.answer},
                      .prompt = static_cast<int32_t>(chat.answer),
                      .seed = settings_.seed + static_cast<uint64_t>(first) + traced.size(),
                      .table = BlockTable(pool)});
  }
  TRY_VOID(answer(traced));
  for (Chat& chat : traced) chat.traced.drafts.resize(static_cast<size_t>(chat.answer()));
  for (int32_t behind = 1; behind <= settings_.answer_tokens; ++behind) {
    std::vector<Chain> chains;
    for (Chat& chat : traced) {
      const int32_t from = chat.answer() - behind;
      if (from >= 0) chains.push_back({.chat = &chat, .from = from, .limit = std::min(settings_.depth, behind)});
    }
    TRY_VOID(draft(chains));
  }
  std::vector<TracedChat> results;
  for (Chat& chat : traced) results.push_back(std::move(chat.traced));
  return results;
}

}  // namespace slipstream::train
