// A model loaded from a Hugging Face folder or a GGUF file onto a device. run() computes a Step and
// gives, for each wanted row, the sampled token (a verifier), or the tokens that a similar target
// will likely sample (a drafter).
//
//   TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = 2}));
//   TRY(LanguageModel target, LanguageModel::load(folder, device, {.cache_blocks = 256}));
//   TRY(auto chosen, target.run(step));
//
//   TRY(LanguageModel small, LanguageModel::load(other, device, {.cache_blocks = 256, .ranked = 4}));
//   TRY_VOID(small.run(step));
//   std::span<const Ranked> candidates = small.ranked(0);
//
// Each model has its own cache on the device: blocks and slots of its steps are rows of that cache.
// A model keeps its device alive.
//
// Threads: one thread at a time calls the models of one device (device.h). load() allocates
// everything; run() allocates nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"
#include "common/model/device.h"
#include "common/model/heads/eagle_head.h"
#include "common/model/load_report.h"
#include "common/model/ops.h"
#include "common/sampling/rank.h"
#include "common/sampling/token_mask.h"

namespace slipstream {

inline constexpr int32_t kCacheBlocksMax = 1 << 20;  // 32 M positions: far more than memory holds
inline constexpr int32_t kCacheBlocksMin = 8;        // that an amount of memory must hold

struct ModelOptions {
  int32_t cache_blocks = 0;              // of kBlockTokens rows each (kv/block_pool.h), for all sequences together
  uint64_t cache_bytes = 0;              // instead, what they may take, those of a draft head included; 0: cache_blocks says it
  int32_t rows_max = 0;                  // rows of a step; 0: as many as the device takes
  bool screen_output = false;            // where the device can: as LlamaOptions (llama.h)
  bool fine_rows = false;                // as LlamaOptions; part of numerics_id()
  int32_t ranked = 0;                    // candidates per wanted row, at most kRankedMax; 0: sample its token
  std::vector<int32_t> taps = {};        // layers whose inputs features() tells, ascending; `layers`: the final norm's input
  std::filesystem::path head = {};       // folder of a draft head, which fits the model; empty: none. It taps the model itself
  HeadPart head_part = HeadPart::whole;  // drafts: nothing of the model is loaded but its embedding and output layer
  int32_t head_ranked = 4;               // candidates that the head tells for each row, at most kRankedMax
  bool head_traced = false;              // drafted_states() is asked for
  bool acceptance = false;               // of a model that ranks: its acceptance head is taken, if it has one
  bool traced = false;                   // states() is asked for
  OnLoad on_load = {};                   // called while the model loads; may be empty
};

class LanguageModel {
 public:
  // Loads a model. If that fails, the device keeps what was packed until then. Errors name the
  // option or the file and what is wrong with it.
  static Result<LanguageModel> load(const std::filesystem::path& model, std::shared_ptr<Device> device,
                                    const ModelOptions& options);
  LanguageModel(LanguageModel&&) noexcept;
  LanguageModel& operator=(LanguageModel&&) noexcept;
  ~LanguageModel();

  // Does the step's moves, then the forward pass. Returns [wanted] the token after each wanted row,
  // or -1 if the row is refused (sampling/chain.h); empty if the model ranks candidates instead.
  // Valid until the next run. An error names the field of the step that is out of range, and the
  // step has changed nothing then.
  Result<std::span<const TokenId>> run(const Step& step);
  std::span<const uint8_t> near_ties() const;  // of these tokens, as Device::near_ties()
  RowWeigher* weigher();                       // of the last run, as Device's
  // The candidates of a wanted row of the last run, likeliest first (sampling/rank.h), at most
  // ModelOptions::ranked. Empty: the row is refused. REQUIRES: the model ranks, and has that row.
  std::span<const Ranked> ranked(size_t wanted) const;
  // [wanted, vocabulary] the last run's logits as the model gave them, before any logits processor.
  // REQUIRES: its step said that they are read.
  std::span<const float> logits() const;

  // The draft head. run() keeps what it needs of each row in the cache, beside keys and values; and
  // draft() is a pass of it over rows of trees behind sequences that run() computed, after the
  // step's moves. All rows are wanted. The slots of a tree's rows hold what draft() wrote until
  // run() computes the same rows.
  bool has_head() const;
  std::string head_name() const;  // of its folder
  uint64_t head_hash() const;     // of its weights (draft_head_hash()); 0: there is no head
  Result<void> draft(const Step& step);

  // A draft head in two processes (HeadPart). That of the target reads features, [slots, hidden]
  // bf16, once a run() has computed their tokens; they are appended to `rows`. The other one writes
  // them, and its run() computes the head's keys and values of the step's rows.
  Result<void> read_features(std::span<const int32_t> slots, std::vector<uint16_t>& rows);
  Result<void> write_features(std::span<const int32_t> slots, std::span<const uint16_t> rows);

  // The tokens that the head can draft by itself, if it scores others beside them (Step::extra);
  // null: it does not.
  const TokenMask* draft_vocabulary() const;
  // The candidates for the token after a row of the last draft(), likeliest first.
  std::span<const Ranked> drafted(size_t row) const;
  // The chance that the target accepts the row's own token, which had been stated with that
  // confidence, if there is an acceptance head (heads/acceptance_head.h): that of the draft head,
  // of a row of the last draft(), or the model's own, of a wanted row of the last run().
  bool predicts_acceptance() const;
  float acceptance(size_t row, float confidence, bool sampled) const;
  // [rows, hidden] of the last draft(): what the head's output layer read, its last hidden states.
  // REQUIRES: ModelOptions::head_traced.
  std::span<const float> drafted_states() const;
  // [rows, vocabulary] of the last draft(): -infinity for tokens that the head cannot draft.
  // REQUIRES: its step said that they are read.
  std::span<const float> drafted_logits() const;

  // [wanted, hidden] of the last run: what the output layer read. REQUIRES: ModelOptions::traced.
  std::span<const float> states() const;
  // [rows, taps * hidden] of each row of the last run: what each tapped layer read (EAGLE-3,
  // 2503.01840, Section 3.1).
  std::span<const float> features() const;

  const LlamaConfig& config() const;
  uint64_t weights_hash() const;  // checkpoint/fingerprint.h
  const LoadReport& load_report() const;
  std::string numerics_id() const;
  bool row_invariant() const;
  int32_t step_rows() const;     // of ModelOptions, or as many as the device takes
  int32_t sequences() const;     // that its device's steps serve well
  int32_t cache_blocks() const;  // of ModelOptions, or as many as their cache_bytes hold
  size_t cache_bytes() const;    // of the model's cache and of its head's

 private:
  struct State;
  explicit LanguageModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
