#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>

#include "common/checkpoint/fingerprint.h"
#include "common/config/cpu_quota.h"
#include "tools/train/commands.h"
#include "tools/train/model_folder.h"
#include "tools/train/progress_line.h"
#include "tools/train/run_folder.h"

namespace slipstream::train {
namespace {

constexpr int64_t kHeldOutSequencesMax = 64;

Result<LlamaConfig> config_of(const RunOptions& options) {
  TRY(LlamaConfig config, read_llama_config(options.model));
  if (!options.new_weights) {
    if (options.shape.any()) return fail("sizes such as --layers are for a model with new weights: add --new-weights");
    return config;
  }
  const NewShape& shape = options.shape;
  config.layers = shape.layers.value_or(config.layers);
  config.hidden = shape.hidden.value_or(config.hidden);
  config.intermediate = shape.intermediate.value_or(config.intermediate);
  config.heads = shape.heads.value_or(config.heads);
  config.kv_heads = shape.kv_heads.value_or(shape.heads ? config.heads : config.kv_heads);
  config.head_size = shape.head_size.value_or(config.head_size);
  config.rope_divisors.clear();  // they belong to the weights that are not taken
  TRY_VOID(check_llama_shape(config, "the new model"));
  return config;
}

Result<Sequences> sequences_of(const RunOptions& options, const std::vector<std::filesystem::path>& paths,
                               const LlamaConfig& config) {
  TRY(const uint64_t tokenizer, hash_tokenizer(options.model));
  std::vector<TokenShard> shards;
  for (const auto& path : paths) {
    TRY(TokenShard shard, TokenShard::open(path, tokenizer, config.vocabulary));
    shards.push_back(std::move(shard));
  }
  if (options.length > config.context_max) {
    return fail("--length {} is over the model's context of {} tokens", options.length, config.context_max);
  }
  return Sequences::cut(std::move(shards), options.length, options.seed);
}

Result<Weights> first_weights(const RunOptions& options, const LlamaConfig& config) {
  const std::vector<TensorSpec> tensors = llama_tensors(config);
  if (options.new_weights) return Weights::random(tensors, config.layers, options.seed);
  TRY(const Checkpoint checkpoint, Checkpoint::open(options.model));
  return Weights::load(checkpoint, tensors);
}

// Names are the flags, where there is one. Bits also depend on the instructions that torch selects.
Result<Conditions> conditions_of(const RunOptions& options, const LlamaConfig& config, uint64_t data, int threads) {
  const TrainingSettings& settings = options.training;
  uint64_t weights = 0;
  if (!options.new_weights) {
    TRY(weights, hash_weights(options.model, config));
  }
  return Conditions{{"--new-weights", options.new_weights ? "yes" : "no"},
                    {"the weights' hash", fmt::format("{:016x}", weights)},
                    {"the data's hash", fmt::format("{:016x}", data)},
                    {"--length", fmt::format("{}", options.length)},
                    {"--seed", fmt::format("{}", options.seed)},
                    {"--threads", fmt::format("{}", threads)},
                    {"the CPU's instructions", at::get_cpu_capability()},
                    {"--steps", fmt::format("{}", settings.steps)},
                    {"--batch", fmt::format("{}", settings.batch)},
                    {"--micro-batch", fmt::format("{}", settings.micro_batch)},
                    {"--learning-rate", fmt::format("{}", settings.learning_rate)},
                    {"--warmup-steps", fmt::format("{}", settings.warmup_steps)},
                    {"--decay", fmt::format("{}", settings.decay)},
                    {"--clip", fmt::format("{}", settings.clip)},
                    {"--bf16", settings.bf16 ? "yes" : "no"}};
}

// Steps until all are done or a stop is asked for. Each checkpoint also gives the held-out loss.
Result<RunEnd> run_steps(const RunOptions& options, const RunFolder& folder, const Conditions& conditions, Training& training,
                         Sequences* held_out, std::stop_token stop) {
  const int64_t steps = options.training.steps;
  ProgressLine progress(steps, training.tokens_of_a_step());
  while (training.steps_done() < steps) {
    TRY(const StepReport report, training.step());
    TRY_VOID(folder.add_loss(report));
    progress.step(report.step, report.loss, ProgressLine::Clock::now());
    const bool ends = stop.stop_requested() || report.step == steps;
    if (!ends && report.step % options.checkpoint_steps != 0) continue;
    TRY_VOID(training.save(folder.checkpoint(), conditions));
    if (held_out != nullptr) {
      progress.say(
          fmt::format("step {}: held-out loss {:.3f}", report.step, training.held_out_loss(*held_out, kHeldOutSequencesMax)));
    }
    if (ends && report.step < steps) return RunEnd::stopped;
  }
  return RunEnd::finished;
}

}  // namespace

Result<RunEnd> run_training(const RunOptions& options, std::stop_token stop) {
  const int threads = options.threads > 0 ? options.threads : cpu_quota();
  at::set_num_threads(threads);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);  // it would only cost time

  TRY(const LlamaConfig config, config_of(options));
  TRY_VOID(hf_config_json(config));  // before hours of training, not after
  TRY(Sequences data, sequences_of(options, options.data, config));
  std::optional<Sequences> held_out;
  if (!options.held_out.empty()) {
    TRY(held_out, sequences_of(options, options.held_out, config));
  }
  TRY(const Conditions conditions, conditions_of(options, config, data.hash(), threads));
  TRY(const RunFolder folder, RunFolder::open(options.out));
  TRY(Weights weights, first_weights(options, config));
  fmt::print("{} million weights, {} sequences of {} tokens, {} steps of {} sequences, {} threads\n",
             (weights.numbers() + 500'000) / 1'000'000, data.count(), options.length, options.training.steps,
             options.training.batch, threads);
  Training training(config, std::move(weights), std::move(data), options.training);
  if (folder.has_checkpoint()) {
    TRY_VOID(training.restore(folder.checkpoint(), conditions));
    fmt::print("going on after step {}\n", training.steps_done());
  }
  std::fflush(stdout);
  TRY_VOID(folder.keep_losses(training.steps_done()));
  TRY(const RunEnd end, run_steps(options, folder, conditions, training, held_out ? &*held_out : nullptr, stop));
  if (end == RunEnd::stopped) {
    fmt::print("stopped after step {}: the same command goes on\n", training.steps_done());
    return end;
  }
  TRY_VOID(write_model_folder(folder.model(), config, training.weights(), options.model));
  fmt::print("trained: {}\n", folder.model().string());
  return end;
}

}  // namespace slipstream::train
