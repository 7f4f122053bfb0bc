#include "common/model/target.h"

#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/safetensors.h"
#include "common/kv/block_pool.h"
#include "common/model/cpu/cpu_device.h"
#include "common/model/llama.h"
#include "common/model/step_check.h"

namespace slipstream {

struct Target::State {
  LlamaConfig config;
  StepLimits limits;
  uint64_t weights_hash = 0;
  std::unique_ptr<Device> device;  // outlives the model, which points into it
  Llama model;
  size_t wanted = 0;  // rows of the last run
};

Target::Target(std::unique_ptr<State> state) : state_(std::move(state)) {}
Target::Target(Target&&) noexcept = default;
Target& Target::operator=(Target&&) noexcept = default;
Target::~Target() = default;

Result<Target> Target::load(const std::filesystem::path& folder, const TargetOptions& options) {
  if (options.rows_max < 1 || options.rows_max > kStepRowsMax) {
    return fail("{} rows a step were asked for; 1 to {} are possible", options.rows_max, kStepRowsMax);
  }
  if (options.cache_blocks < 1 || options.cache_blocks > kCacheBlocksMax) {
    return fail("{} cache blocks were asked for; 1 to {} are possible", options.cache_blocks, kCacheBlocksMax);
  }
  auto state = std::make_unique<State>();
  TRY(state->config, read_llama_config(folder));
  TRY(const Checkpoint checkpoint, Checkpoint::open(folder));
  TRY(state->weights_hash, hash_weights(folder, state->config));
  TRY(state->device, make_cpu_device({.threads = options.threads, .path = options.path}));
  const ModelLimits limits{.rows_max = options.rows_max, .cache_blocks = options.cache_blocks};
  TRY(state->model, Llama::load(checkpoint, state->config, *state->device, limits));
  state->limits = {.rows_max = options.rows_max,
                   .vocabulary = state->config.vocabulary,
                   .positions = state->config.context_max,
                   .cache_blocks = options.cache_blocks};
  return Target(std::move(state));
}

Result<std::span<const TokenId>> Target::run(const Step& step) {
  TRY_VOID(check_step(step, state_->limits));
  TRY_VOID(state_->device->run(state_->model, step));
  state_->wanted = step.wanted.size();
  return std::span(static_cast<const TokenId*>(state_->model.chosen().data), state_->wanted);
}

std::span<const float> Target::logits() const {
  return {static_cast<const float*>(state_->model.logits().data),
          state_->wanted * static_cast<size_t>(state_->config.vocabulary)};
}

const LlamaConfig& Target::config() const { return state_->config; }
uint64_t Target::weights_hash() const { return state_->weights_hash; }
std::string Target::numerics_id() const { return state_->device->numerics_id(); }
bool Target::row_invariant() const { return state_->device->row_invariant(); }

size_t Target::cache_bytes(const LlamaConfig& config, int32_t blocks) {
  return cpu_cache_bytes(config.layers, {.heads = config.heads, .kv_heads = config.kv_heads, .head_size = config.head_size},
                         blocks);
}

}  // namespace slipstream
