#include "tools/train/traced_drafter.h"

#include <algorithm>

#include "common/checkpoint/fingerprint.h"
#include "common/model/heads/acceptance_head.h"

namespace slipstream::train {

Result<uint64_t> DrafterPath::hash() const {
  if (!head.empty()) return draft_head_hash(head);
  TRY(const LlamaConfig config, read_llama_config(small_model));
  return hash_weights(small_model, config);
}

Result<void> DrafterPath::narrow(LlamaConfig& target, const std::filesystem::path& target_path) const {
  if (!head.empty()) return {};
  TRY(const uint64_t tokenizer, hash_tokenizer(target_path));
  TRY(const uint64_t own, hash_tokenizer(small_model));
  if (own != tokenizer) {
    return fail("{} has another tokenizer than {}: its tokens would mean other words", small_model.string(),
                target_path.string());
  }
  TRY(const LlamaConfig config, read_llama_config(small_model));
  target.context_max = std::min(target.context_max, config.context_max);
  target.vocabulary = std::min(target.vocabulary, config.vocabulary);
  return {};
}

Result<TracedDrafter> TracedDrafter::load(const DrafterPath& path, LanguageModel& target, const std::shared_ptr<Device>& device,
                                          int32_t cache_blocks) {
  std::optional<LanguageModel> small;
  if (path.head.empty()) {
    TRY(small,
        LanguageModel::load(path.small_model, device, {.cache_blocks = cache_blocks, .ranked = kRankedMax, .traced = true}));
  }
  return TracedDrafter(target, std::move(small));
}

SamplingParams TracedDrafter::ranking(float temperature) const {
  const SamplingParams params{.temperature = temperature};
  return small_ ? params : sharpened(params);
}

Result<void> TracedDrafter::forward(const Step& step) {
  if (!small_) return target_->draft(step);
  TRY_VOID(small_->run(step));
  return {};
}

// A small model may pad its vocabulary with tokens that the target has not.
Ranked TracedDrafter::best(size_t row) const {
  const auto all = small_ ? small_->ranked(row) : target_->drafted(row);
  const auto known = std::ranges::find_if(all, [&](const Ranked& each) { return each.token < target_->config().vocabulary; });
  return known == all.end() ? all.front() : *known;
}

std::span<const float> TracedDrafter::state(size_t row) const {
  const auto width = static_cast<size_t>(hidden());
  return (small_ ? small_->states() : target_->drafted_states()).subspan(row * width, width);
}

std::span<const float> TracedDrafter::logits(size_t row) const {
  const auto width = static_cast<size_t>(model().config().vocabulary);
  return (small_ ? small_->logits() : target_->drafted_logits()).subspan(row * width, width);
}

}  // namespace slipstream::train
