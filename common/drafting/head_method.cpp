#include "common/drafting/head_method.h"

#include <algorithm>
#include <utility>

#include "common/checkpoint/head_config.h"
#include "common/drafting/draft_model.h"
#include "common/drafting/make_method.h"

namespace slipstream {
namespace {

// Rows behind a sequence's tokens: of its tree, and of its last block.
constexpr int64_t kRowsBeside = kTreeNodesMax + kBlockTokens;

}  // namespace

HeadMethod::HeadMethod(LanguageModel model)
    : model_(std::move(model)), cache_(model_.cache_blocks(), [](const CachedSequence&) { return nullptr; }) {
  plan_.blocks_max = blocks_of_a_sequence(model_.config().context_max);
}

Result<std::unique_ptr<HeadMethod>> HeadMethod::load(const HeadMethodOptions& options) {
  TRY(LanguageModel model, LanguageModel::load(options.model, options.device,
                                               {.cache_blocks = options.cache_tokens / kBlockTokens,
                                                .cache_bytes = options.cache_bytes,
                                                .head = options.head,
                                                .head_part = HeadPart::drafts,
                                                .head_ranked = options.siblings_max,
                                                .on_load = log_load()}));
  return std::unique_ptr<HeadMethod>(new HeadMethod(std::move(model)));
}

std::optional<MethodRoom> HeadMethod::room() const {
  return MethodRoom{.tokens = int64_t{model_.cache_blocks()} * kBlockTokens, .beside = kRowsBeside};
}

void HeadMethod::begin(const DraftKey& key, const GenerationSpec& spec) {
  sequences_.insert_or_assign(
      key, Sequence{.spec = spec, .context = CachedSequence(cache_.pool(), spec.prompt_length, spec.logits_params)});
}

void HeadMethod::see(const DraftKey& key, std::span<const uint16_t> features) {
  sequences_.at(key).features.assign(features.begin(), features.end());
}

// What an earlier tree left in the rows behind the old root is overwritten: by these features, and
// by the keys and values that read_contexts() computes.
void HeadMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  Sequence& sequence = sequences_.at(key);
  const int32_t first = std::max(sequence.context.root(), 0);
  sequence.context.append(tokens);
  sequence.incomplete = sequence.incomplete || !make_room(sequence);
  if (sequence.incomplete) return sequence.context.forget();
  if (const Result<void> kept = keep(sequence, first); !kept) {
    sequence.incomplete = true;
    kept_ = kept;
  }
}

// The target may have a longer context than the head.
bool HeadMethod::make_room(Sequence& sequence) {
  const CachedSequence& context = sequence.context;
  return context.size() <= model_.config().context_max && cache_.reserve(sequence.context, context.size(), MayEvict::prefixes);
}

// first: position of the first of the features that came.
Result<void> HeadMethod::keep(Sequence& sequence, int32_t first) {
  const std::vector<uint16_t> features = std::exchange(sequence.features, {});
  const auto count = static_cast<int32_t>(features.size()) / model_.config().hidden;
  std::vector<int32_t> slots;
  for (int32_t position = first; position < first + count; ++position) slots.push_back(sequence.context.slot(position));
  return model_.write_features(slots, features);
}

// Adds the ask, if there is something to draft.
bool HeadMethod::begin_tree(const DraftAsk& ask, std::vector<HeadAsk>& head_asks) {
  Sequence& sequence = sequences_.at(ask.key);
  CachedSequence& context = sequence.context;
  StopRule rule = ask.rule;
  rule.depth_max = std::min(rule.depth_max, model_.config().context_max - 1 - context.root());  // positions left
  const bool drafts = !sequence.incomplete && context.size() > 0 && rule.nodes_max > 0 && rule.depth_max > 0;
  if (!drafts || !cache_.reserve(context, context.root() + 1 + kTreeNodesMax, MayEvict::prefixes)) return false;
  head_asks.push_back(
      head_ask(context, sequence.spec, {ask.epoch, ask.round}, rule, sequence.words, model_.draft_vocabulary()));
  return true;
}

// Keys and values of all positions before the roots.
Result<void> HeadMethod::read_contexts(std::span<const DraftAsk> asks) {
  for (;;) {
    plan_.clear();
    Pass pass(plan_);
    for (const DraftAsk& ask : asks) {
      Sequence& sequence = sequences_.at(ask.key);
      const int32_t rows = std::min(sequence.context.prefill_rows(), model_.step_rows() - plan_.rows());
      if (sequence.incomplete || rows <= 0) continue;
      pass.add_context(sequence.context, rows);
      sequence.context.computed(rows);
    }
    if (plan_.rows() == 0) return {};
    ++work_.passes;
    work_.rows += static_cast<uint64_t>(plan_.rows());
    TRY_VOID(model_.run(plan_.view()));
  }
}

// After an error the device has failed: nobody knows what lies in the cache.
Result<std::vector<Draft>> HeadMethod::draft(std::span<const DraftAsk> asks) {
  TRY_VOID(std::exchange(kept_, {}));
  std::vector<Draft> drafts(asks.size(), DraftTree());
  std::vector<HeadAsk> head_asks;
  std::vector<size_t> drafted;  // indices of asks
  const Result<void> read = read_contexts(asks);
  for (size_t i = 0; read && i < asks.size(); ++i) {
    if (begin_tree(asks[i], head_asks)) drafted.push_back(i);
  }
  Result<HeadTrees> grown = read ? draft_by_head(model_, head_asks, extra_, plan_) : std::unexpected(read.error());
  if (!grown) {
    for (const DraftAsk& ask : asks) sequences_.at(ask.key).incomplete = true;
    return std::unexpected(grown.error());
  }
  work_.passes += static_cast<uint64_t>(grown->passes);
  for (size_t i = 0; i < drafted.size(); ++i) drafts[drafted[i]] = std::move(grown->trees[i]);
  return drafts;
}

Result<std::unique_ptr<Method>> make_draft_head(const MethodParts& parts) {
  const auto& [options, target, texts] = parts;
  TRY(const std::filesystem::path head, needed_head(options.model, options.head, "--method draft-head"));
  TRY(DraftModelSource source, find_draft_model(options, target));
  TRY(std::unique_ptr<HeadMethod> method, HeadMethod::load({.model = std::move(source.folder),
                                                            .head = head,
                                                            .device = std::move(source.device),
                                                            .cache_tokens = options.cache_rows(),
                                                            .cache_bytes = options.cache_bytes(),
                                                            .siblings_max = static_cast<int>(options.siblings)}));
  log_draft_model(method->model(), options);
  return method;
}

}  // namespace slipstream
