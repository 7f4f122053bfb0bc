#include "common/model/language_model.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "common/base/check.h"
#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/fingerprint.h"
#include "common/kv/block_pool.h"
#include "common/model/llama.h"
#include "common/model/step_check.h"

namespace slipstream {
namespace {

// Reports the progress of a load, and times its parts.
class LoadWatch {
 public:
  LoadWatch(uint64_t bytes, const OnLoad& told) : told_(told), progress_{.all = bytes} {}

  // Starts a part. The callback that it returns adds bytes to it.
  std::function<void(uint64_t)> counts(LoadPart part) {
    progress_.part = part;
    progress_.bytes = 0;
    return [this](uint64_t bytes) {
      progress_.bytes += bytes;
      if (told_) told_(progress_);
    };
  }
  double lap() {  // seconds since the last call
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(began_, now)).count();
  }

 private:
  const OnLoad& told_;
  LoadProgress progress_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

struct LanguageModel::State {
  LlamaConfig config;
  StepLimits limits;
  uint64_t weights_hash = 0;
  LoadReport report;
  std::shared_ptr<Device> device;  // declared before the model, which points into it
  Llama model;
  size_t rows = 0, wanted = 0;  // of the last run
};

LanguageModel::LanguageModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
LanguageModel::LanguageModel(LanguageModel&&) noexcept = default;
LanguageModel& LanguageModel::operator=(LanguageModel&&) noexcept = default;
LanguageModel::~LanguageModel() = default;

// Config and file are checked first, then every byte is hashed, and only then packed: an unreadable
// model fails before it takes memory, and the hash warms the page cache for the packing.
Result<LanguageModel> LanguageModel::load(const std::filesystem::path& model, std::shared_ptr<Device> device,
                                          const ModelOptions& options) {
  if (options.rows_max < 1 || options.rows_max > kStepRowsMax) {
    return fail("{} rows a step were asked for; 1 to {} are possible", options.rows_max, kStepRowsMax);
  }
  if (options.cache_blocks < 1 || options.cache_blocks > kCacheBlocksMax) {
    return fail("{} cache blocks were asked for; 1 to {} are possible", options.cache_blocks, kCacheBlocksMax);
  }
  if (options.ranked < 0 || options.ranked > kRankedMax) {
    return fail("{} candidates a row were asked for; 0 to {} are possible", options.ranked, kRankedMax);
  }
  auto state = std::make_unique<State>();
  state->device = std::move(device);
  TRY(state->config, read_llama_config(model));
  for (size_t i = 0; i < options.taps.size(); ++i) {
    const int32_t tap = options.taps[i];
    if (tap < (i == 0 ? 0 : options.taps[i - 1] + 1) || tap > state->config.layers) {
      return fail("layer {} cannot be tapped: taps ascend, and the model has layers 0 to {}", tap, state->config.layers - 1);
    }
  }
  TRY(const Checkpoint checkpoint, Checkpoint::open(model));
  state->report.bytes = checkpoint.bytes();
  LoadWatch watch(state->report.bytes, options.on_load);
  TRY(state->weights_hash, hash_weights(model, state->config, watch.counts(LoadPart::read)));
  state->report.read_seconds = watch.lap();
  TRY(state->model, Llama::load(checkpoint, state->config, *state->device,
                                {.rows_max = options.rows_max,
                                 .cache_blocks = options.cache_blocks,
                                 .ranked = options.ranked,
                                 .taps = options.taps,
                                 .packed = watch.counts(LoadPart::pack)}));
  state->report.pack_seconds = watch.lap();
  state->limits = {.rows_max = options.rows_max,
                   .vocabulary = state->config.vocabulary,
                   .positions = state->config.context_max,
                   .cache_blocks = options.cache_blocks};
  return LanguageModel(std::move(state));
}

// The check comes before anything runs, because kernels index with the step's numbers unchecked.
Result<std::span<const TokenId>> LanguageModel::run(const Step& step) {
  TRY_VOID(check_step(step, state_->limits));
  TRY_VOID(state_->device->run(state_->model, step));
  state_->rows = step.token.size();
  state_->wanted = step.wanted.size();
  const Tensor sampled_tokens = state_->model.sampled_tokens();
  return std::span(static_cast<const TokenId*>(sampled_tokens.data), sampled_tokens.data == nullptr ? 0 : state_->wanted);
}

std::span<const Ranked> LanguageModel::ranked(size_t wanted) const {
  const Tensor all = state_->model.ranked();
  CHECK(wanted < state_->wanted && all.data != nullptr, "no candidates of wanted row {}", wanted);
  const auto columns = static_cast<size_t>(all.cols) / kRankedWords;
  // A row with fewer candidates than columns ends at token -1 (Ops::rank).
  const auto row = std::span(static_cast<const Ranked*>(all.data) + wanted * columns, columns);
  return row.first(static_cast<size_t>(std::ranges::find(row, -1, &Ranked::token) - row.begin()));
}

std::span<const float> LanguageModel::logits() const {
  return {static_cast<const float*>(state_->model.logits().data),
          state_->wanted * static_cast<size_t>(state_->config.vocabulary)};
}

std::span<const float> LanguageModel::features() const {
  const Tensor all = state_->model.features();
  return {static_cast<const float*>(all.data), all.data == nullptr ? 0 : state_->rows * static_cast<size_t>(all.cols)};
}

const LlamaConfig& LanguageModel::config() const { return state_->config; }
uint64_t LanguageModel::weights_hash() const { return state_->weights_hash; }
const LoadReport& LanguageModel::load_report() const { return state_->report; }
std::string LanguageModel::numerics_id() const { return state_->device->numerics_id(state_->model.weights()); }
bool LanguageModel::row_invariant() const { return state_->device->row_invariant(); }

size_t LanguageModel::cache_bytes() const {
  size_t bytes = 0;
  for (const KvCache* cache : state_->model.caches()) bytes += cache->bytes;
  return bytes;
}

}  // namespace slipstream
