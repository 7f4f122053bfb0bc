#include "tools/train/draft_tracer.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/limits.h"
#include "common/sampling/entropy.h"
#include "common/sampling/rank.h"
#include "tools/train/feature_collector.h"

namespace slipstream::train {

Result<DraftTracer> DraftTracer::load(const std::filesystem::path& target, const DrafterPath& drafter,
                                      const DeviceOptions& device, const TraceSettings& settings, int32_t tokens_max,
                                      int32_t chats_max) {
  const int32_t blocks = blocks_of_a_sequence(tokens_max + settings.answers.answer_tokens);
  TRY(std::shared_ptr<Device> made, make_device(device));
  TRY(LanguageModel model,
      LanguageModel::load(target, made,
                          {.cache_blocks = blocks * chats_max, .head = drafter.head, .head_ranked = 1, .head_traced = true}));
  auto at_its_place = std::make_unique<LanguageModel>(std::move(model));
  TRY(TracedDrafter drafts, TracedDrafter::load(drafter, *at_its_place, made, blocks * chats_max));
  return DraftTracer(std::move(at_its_place), std::move(drafts), settings, blocks, chats_max);
}

Result<void> DraftTracer::answer(std::span<Chat> chats, ChatAnswerer& answerer) {
  for (Chat& chat : chats) TRY_VOID(answerer.prefill(chat.answered, settings_.depth));
  for (;;) {
    std::vector<AnsweredChat*> going;
    for (Chat& chat : chats) {
      if (!chat.answered.ended) going.push_back(&chat.answered);
    }
    if (going.empty()) return {};
    TRY_VOID(answerer.add_token(going));
  }
}

DraftTracer::Chain DraftTracer::chain(Chat& chat, int32_t from, int32_t limit) const {
  Chain made{.chat = &chat, .from = from, .limit = limit};
  if (const TokenMask* own = target_->draft_vocabulary()) {
    made.words.read(std::span(chat.answered.tokens).first(static_cast<size_t>(made.root()) + 1), *own);
  }
  return made;
}

// A pass of the drafter over the newest node of each chain, or over the roots at depth 0: it tells
// the state behind that node, and the chain's next one.
Result<void> DraftTracer::forward(std::span<Chain* const> chains, int32_t depth) {
  plan_.clear();
  plan_.blocks_max = blocks_;
  for (const Chain* chain : chains) {
    const AnsweredChat& chat = chain->chat->answered;
    const int32_t root = chain->root(), position = root + depth;
    plan_.add({.token = depth == 0 ? chat.tokens[static_cast<size_t>(root)] : chain->drafted.back(),
               .position = position,
               .slot = chat.table.slot(position),
               .parent_slot = position == 0 ? -1 : chat.table.slot(position - 1),
               .sequence = plan_.add_sequence(chat.table.blocks()),
               .visible = root,
               .ancestors = (uint64_t{2} << depth) - 1});
    const RowSampling how{.seed = chat.seed,
                          .choice = 0,
                          .position = static_cast<uint32_t>(chain->from + depth),
                          .params = drafter_.ranking(settings_.answers.temperature)};
    plan_.want(how);
    extra_.add(chain->words.latest(), how, plan_.extra);
  }
  TRY_VOID(drafter_.forward(plan_.view()));
  for (size_t i = 0; i < chains.size(); ++i) {
    Chain& chain = *chains[i];
    TracedDraft& draft = chain.chat->traced.drafts[static_cast<size_t>(chain.from)];
    if (depth > 0) std::ranges::transform(drafter_.state(i), std::back_inserter(draft.states), to_bf16);
    if (depth == chain.limit) continue;
    const Ranked best = drafter_.best(i);
    const TokenId chosen = chain.chat->answered.tokens[static_cast<size_t>(chain.root() + depth + 1)];
    draft.nodes.push_back({.confidence = best.confidence,
                           .entropy = entropy_of(drafter_.logits(i), settings_.answers.temperature),
                           .matched = best.token == chosen ? 1 : 0});
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
  ChatAnswerer answerer(*target_, settings_.answers, blocks_);
  std::vector<Chat> traced;
  for (const ChatDocument& chat : chats) {
    traced.push_back({answerer.begin(chat, first + static_cast<int64_t>(traced.size()), pool), {}});
  }
  TRY_VOID(answer(traced, answerer));
  for (Chat& chat : traced) {
    chat.traced.drafts.resize(static_cast<size_t>(chat.answered.answer()));
    if (LanguageModel* reader = drafter_.reader()) {
      TRY_VOID(ChatAnswerer(*reader, settings_.answers, blocks_).read(chat.answered, 0, chat.answered.size() - 1));
    }
  }
  for (int32_t behind = 1; behind <= settings_.answers.answer_tokens; ++behind) {
    std::vector<Chain> chains;
    for (Chat& chat : traced) {
      const int32_t from = chat.answered.answer() - behind;
      if (from >= 0) chains.push_back(chain(chat, from, std::min(settings_.depth, behind)));
    }
    TRY_VOID(draft(chains));
  }
  std::vector<TracedChat> results;
  for (Chat& chat : traced) results.push_back(std::move(chat.traced));
  return results;
}

}  // namespace slipstream::train
