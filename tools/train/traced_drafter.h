// Whose drafts a trace tells: those of the target's draft head, or of a small model beside it. Both
// draft as they are served.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"
#include "common/model/language_model.h"
#include "common/sampling/rank.h"

namespace slipstream::train {

// One of the two.
struct DrafterPath {
  std::filesystem::path head, small_model;

  const std::filesystem::path& path() const { return head.empty() ? small_model : head; }
  Result<uint64_t> hash() const;  // of its weights, as an acceptance head names it
  // Of a small model: whether its tokens are the target's. The target's config gets the smaller
  // context of the two, and the smaller vocabulary.
  Result<void> narrow(LlamaConfig& target, const std::filesystem::path& target_path) const;
};

class TracedDrafter {
 public:
  // Loads the small model, if it is one. cache_blocks: of its cache, as of the target's. `target`
  // has the draft head otherwise, traced, and outlives this at its place.
  static Result<TracedDrafter> load(const DrafterPath& path, LanguageModel& target, const std::shared_ptr<Device>& device,
                                    int32_t cache_blocks);

  // A small model reads the target's tokens itself, before it drafts behind them; null: a head.
  LanguageModel* reader() { return small_ ? &*small_ : nullptr; }
  // How candidates are ranked for requests of this temperature.
  SamplingParams ranking(float temperature) const;
  // A pass over rows of chains, which are all wanted.
  Result<void> forward(const Step& step);

  // Of a row of the last pass.
  Ranked best(size_t row) const;                   // the likeliest token that the target has
  std::span<const float> state(size_t row) const;  // [hidden()]
  std::span<const float> logits(size_t row) const;
  int32_t hidden() const { return model().config().hidden; }
  uint64_t hash() const { return small_ ? small_->weights_hash() : target_->head_hash(); }  // as DrafterPath has it

 private:
  TracedDrafter(LanguageModel& target, std::optional<LanguageModel> small) : target_(&target), small_(std::move(small)) {}
  const LanguageModel& model() const { return small_ ? *small_ : *target_; }

  LanguageModel* target_;
  std::optional<LanguageModel> small_;
};

}  // namespace slipstream::train
