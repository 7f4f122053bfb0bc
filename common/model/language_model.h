// A model loaded from a Hugging Face folder or a GGUF file onto a device, for a verifier or for a
// drafter: give it a Step, get one token for each wanted row, or the candidates that a target near
// it would likely choose.
//
//   TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = 2}));
//   TRY(LanguageModel target, LanguageModel::load(folder, device, {.cache_blocks = 256}));
//   TRY(auto chosen, target.run(step));
//
//   TRY(LanguageModel small, LanguageModel::load(other, device, {.cache_blocks = 256, .ranked = 4}));
//   TRY_VOID(small.run(step));
//   std::span<const Ranked> candidates = small.ranked(0);
//
// Each model has a cache of its own on its device: cache blocks and slots of its steps name rows of
// that one alone. Models keep their device alive.
//
// Threads: one thread at a time calls the models of one device (device.h). load() allocates
// everything; run() allocates nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"
#include "common/model/device.h"
#include "common/model/load_report.h"
#include "common/model/ops.h"
#include "common/sampling/rank.h"

namespace slipstream {

inline constexpr int32_t kCacheBlocksMax = 1 << 20;  // 32 M positions: far more than memory holds

struct ModelOptions {
  int32_t cache_blocks = 0;         // of kBlockTokens rows each (kv/block_pool.h), for all sequences together
  int32_t rows_max = kStepRowsMax;  // rows of one step
  int32_t ranked = 0;               // candidates a wanted row, at most kRankedMax; 0: its one token
  OnLoad on_load;                   // told how far loading is; may be empty
};

class LanguageModel {
 public:
  // The device keeps what a load that fails had packed by then.
  static Result<LanguageModel> load(const std::filesystem::path& model, std::shared_ptr<Device> device,
                                    const ModelOptions& options);
  LanguageModel(LanguageModel&&) noexcept;
  LanguageModel& operator=(LanguageModel&&) noexcept;
  ~LanguageModel();

  // Moves first, then the forward pass. [wanted] the token after that row; -1: its logits were not
  // finite; empty where candidates are ranked instead. Valid until the next run. An error names the
  // field of the step that is out of range; nothing was changed then.
  Result<std::span<const TokenId>> run(const Step& step);
  // [up to ModelOptions::ranked] of the wanted row of that index in the last run (sampling/rank.h);
  // none: not finite.
  std::span<const Ranked> ranked(size_t wanted) const;
  std::span<const float> logits() const;  // [wanted, vocabulary] of the last run, before any adjustment

  const LlamaConfig& config() const;
  uint64_t weights_hash() const;  // checkpoint/fingerprint.h
  const LoadReport& load_report() const;
  std::string numerics_id() const;
  bool row_invariant() const;
  size_t cache_bytes() const;

 private:
  struct State;
  explicit LanguageModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
