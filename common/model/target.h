// The target model of a verifier, loaded from a Hugging Face folder onto one device: give it a Step, get one token a wanted
// row.
//
//   TRY(Target target, Target::load(folder, {.threads = 2, .cache_blocks = 256}));
//   TRY(auto chosen, target.run(step));
//
// One thread calls it. Everything is allocated by load(); run() allocates nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/base/result.h"
#include "common/checkpoint/hf_config.h"
#include "common/model/ops.h"
#include "kernels/cpu/path.h"

namespace slipstream {

inline constexpr int32_t kCacheBlocksMax = 1 << 20;  // 32 M positions: far more than memory holds

struct TargetOptions {
  int threads = 1;                  // compute threads, the caller's own included
  std::optional<CpuPath> path;      // unset: the fastest that this machine has
  int32_t cache_blocks = 0;         // of kBlockTokens rows each (kv/block_pool.h), for all sequences together
  int32_t rows_max = kStepRowsMax;  // rows of one step
};

class Target {
 public:
  static Result<Target> load(const std::filesystem::path& folder, const TargetOptions& options);
  Target(Target&&) noexcept;
  Target& operator=(Target&&) noexcept;
  ~Target();

  // Moves first, then the forward pass. [wanted] the target's token after that row; -1: its logits were not finite.
  // Valid until the next run. An error names the field of the step that is out of range; nothing was changed then.
  Result<std::span<const TokenId>> run(const Step& step);
  std::span<const float> logits() const;  // [wanted, vocabulary] of the last run

  const LlamaConfig& config() const;
  uint64_t weights_hash() const;  // checkpoint/fingerprint.h
  std::string numerics_id() const;
  bool row_invariant() const;
  static size_t cache_bytes(const LlamaConfig& config, int32_t blocks);  // what that many cache blocks take

 private:
  struct State;
  explicit Target(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
