// `slipstream-train head`: a draft head from feature shards.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>

#include "common/checkpoint/fingerprint.h"
#include "common/config/cpu_quota.h"
#include "tools/train/commands.h"
#include "tools/train/head_folder.h"
#include "tools/train/progress_line.h"
#include "tools/train/run_folder.h"

namespace slipstream::train {
namespace {

constexpr int64_t kHeldOutChatsMax = 100;

// The shards must be of this target, and have behind the head's taps what its final norm reads.
Result<HeadConfig> config_of(const HeadOptions& options, const HeadData& data) {
  TRY(const LlamaConfig target, read_llama_config(options.model));
  const FeatureOrigin& origin = data.origin();
  TRY(const uint64_t weights, hash_weights(options.model, target));
  if (origin.weights != weights || origin.hidden != target.hidden) {
    return fail("the features of {} are of another target than {}: collect them anew", options.data.string(),
                options.model.string());
  }
  const std::span taps(origin.tap.data(), static_cast<size_t>(origin.taps));
  if (taps.size() < 2 || taps.back() != target.layers) {
    return fail("the features of {} lack what the final norm reads: collect them anew", options.data.string());
  }
  return HeadConfig{.target = target,
                    .taps = {taps.begin(), taps.end() - 1},
                    .vocabulary = frequent_tokens(data.train(), target.vocabulary, options.draft_vocabulary)};
}

// Names are the flags, where there is one. Bits also depend on the instructions that torch selects.
Result<Conditions> conditions_of(const HeadOptions& options, const HeadData& data, int threads) {
  const HeadTrainingSettings& settings = options.training;
  uint64_t before = 0;
  if (!options.begin_with.empty()) {
    TRY(const LlamaConfig target, read_llama_config(options.model));
    TRY(before, hash_weights(options.begin_with, target));
  }
  return Conditions{{"the first weights' hash", fmt::format("{:016x}", before)},
                    {"the target's hash", fmt::format("{:016x}", data.origin().weights)},
                    {"the data's hash", fmt::format("{:016x}", data.hash())},
                    {"--held-out-every", fmt::format("{}", options.held_out_every)},
                    {"--draft-vocabulary", fmt::format("{}", options.draft_vocabulary)},
                    {"--seed", fmt::format("{}", options.seed)},
                    {"--threads", fmt::format("{}", threads)},
                    {"the CPU's instructions", at::get_cpu_capability()},
                    {"--steps", fmt::format("{}", settings.steps)},
                    {"--batch", fmt::format("{}", settings.batch)},
                    {"--unroll", fmt::format("{}", settings.unroll)},
                    {"--step-weight", fmt::format("{}", settings.step_weight)},
                    {"--learning-rate", fmt::format("{}", settings.learning_rate)},
                    {"--warmup-steps", fmt::format("{}", settings.warmup_steps)},
                    {"--decay", fmt::format("{}", settings.decay)},
                    {"--clip", fmt::format("{}", settings.clip)},
                    {"--freeze-output", settings.freeze_output ? "yes" : "no"},
                    {"--bf16", settings.bf16 ? "yes" : "no"}};
}

struct HeadRun {
  const HeadOptions& options;
  const RunFolder& folder;
  const Conditions& conditions;
  const HeadFile& head;
};

// Steps until all are done or a stop is asked for. Each checkpoint is a head that can be served,
// too.
Result<RunEnd> run_steps(const HeadRun& run, HeadTraining& training, std::stop_token stop) {
  const int64_t steps = run.options.training.steps;
  ProgressLine progress(steps, training.tokens_of_a_step());
  while (training.steps_done() < steps) {
    TRY(const StepReport report, training.step());
    TRY_VOID(run.folder.add_loss(report));
    progress.step(report.step, report.loss, ProgressLine::Clock::now());
    const bool ends = stop.stop_requested() || report.step == steps;
    if (!ends && report.step % run.options.checkpoint_steps != 0) continue;
    TRY_VOID(training.save(run.folder.checkpoint(), run.conditions));
    TRY_VOID(write_head_folder(run.folder.model(), run.head, training.weights()));
    progress.say(fmt::format("step {}: {}", report.step, text_of(training.held_out(kHeldOutChatsMax))));
    if (ends && report.step < steps) return RunEnd::stopped;
  }
  return RunEnd::finished;
}

Result<Weights> first_weights(const HeadOptions& options, const HeadFile& head, const HeadTarget& target) {
  if (!options.begin_with.empty()) return read_head_folder(options.begin_with, head, target.output);
  return first_head_weights(head.config, target, head.scales, options.seed);
}

}  // namespace

Result<RunEnd> train_head(const HeadOptions& options, std::stop_token stop) {
  const int threads = options.threads > 0 ? options.threads : cpu_quota();
  at::set_num_threads(threads);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);  // it would only cost time

  TRY(const uint64_t tokenizer, hash_tokenizer(options.model));
  TRY(const HeadData data, HeadData::open(options.data, tokenizer, options.held_out_every));
  TRY(const HeadConfig config, config_of(options, data));
  const std::vector<float> scales = feature_scales(data.train(), config.width());
  const HeadFile head{.config = config, .scales = scales, .target_weights = data.origin().weights};
  TRY(const HeadTarget target, HeadTarget::load(options.model, config));
  TRY(const Conditions conditions, conditions_of(options, data, threads));
  TRY(const RunFolder folder, RunFolder::open(options.out));
  TRY(Weights weights, first_weights(options, head, target));
  HeadTrainingSettings settings = options.training;
  settings.seed = options.seed;
  fmt::print("{} thousand weights, {} chats and {} held out, {} steps of {} chats, {} threads\n", weights.numbers() / 1000,
             data.train().size(), data.held_out().size(), settings.steps, settings.batch, threads);
  HeadTraining training(config, std::move(weights), HeadExamples(config, target, scales, settings.unroll), data, settings);
  if (folder.has_checkpoint()) {
    TRY_VOID(training.restore(folder.checkpoint(), conditions));
    fmt::print("going on after step {}\n", training.steps_done());
  }
  std::fflush(stdout);
  TRY_VOID(folder.keep_losses(training.steps_done()));
  const HeadRun run{.options = options, .folder = folder, .conditions = conditions, .head = head};
  TRY(const RunEnd end, run_steps(run, training, stop));
  if (end == RunEnd::stopped) {
    fmt::print("stopped after step {}: the same command goes on\n", training.steps_done());
    return end;
  }
  fmt::print("trained: {}\n", folder.model().string());
  return end;
}

}  // namespace slipstream::train
