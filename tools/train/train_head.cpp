// `slipstream-train head`: a draft head from feature shards, or from chats whose features are
// computed beside the training.
#include <algorithm>
#include <chrono>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/checkpoint/fingerprint.h"
#include "common/config/byte_size.h"
#include "common/config/memory_limit.h"
#include "tools/train/commands.h"
#include "tools/train/compute_device.h"
#include "tools/train/head_folder.h"
#include "tools/train/head_reading.h"
#include "tools/train/progress_line.h"
#include "tools/train/run_folder.h"

namespace slipstream::train {
namespace {

constexpr int64_t kHeldOutChatsMax = 100;
constexpr int64_t kMicroBatchOnGpu = 16;  // by default
constexpr double kFeatureMemoryShare = 0.5;

uint64_t feature_bytes(const HeadOptions& options) {
  if (options.feature_bytes > 0) return options.feature_bytes;
  const MachineMemory memory = machine_memory("/");
  return static_cast<uint64_t>(kFeatureMemoryShare * std::min(memory.available, memory.limit));
}

// The data of documents: runs them through the target, on the same device.
Result<HeadData> compute_data(const HeadOptions& options, const LlamaConfig& target, int threads, std::stop_token stop) {
  TRY(std::vector<ChatDocument> chats, read_chats(options.documents, target));
  const DeviceOptions device{.name = options.device, .threads = threads, .path = options.path};
  TRY(FeatureCollector collector,
      FeatureCollector::load(options.model, device, taps_with_final(options.taps, target), longest(chats)));
  int64_t tokens = 0;
  for (const ChatDocument& chat : chats) tokens += static_cast<int64_t>(chat.tokens.size());
  const uint64_t bytes = feature_bytes(options);
  const uint64_t all = static_cast<uint64_t>(tokens * collector.origin().width()) * sizeof(uint16_t);
  fmt::print("features of {} chats: {}, of which memory for {} is used{}\n", chats.size(), byte_size_words(all),
             byte_size_words(std::min(bytes, all)), all > bytes ? "; the others are computed whenever they are needed" : "");
  RateLine progress(tokens, "tokens");
  return HeadData::compute(std::move(chats), std::move(collector),
                           {.held_out_every = options.held_out_every, .bytes_max = bytes, .computed = [&](int64_t count) {
                              progress.add(count, RateLine::Clock::now());
                              return !stop.stop_requested();
                            }});
}

Result<HeadData> data_of(const HeadOptions& options, const LlamaConfig& target, int threads, std::stop_token stop) {
  if (!options.documents.empty()) return compute_data(options, target, threads, stop);
  TRY(const uint64_t tokenizer, hash_tokenizer(options.model));
  return HeadData::open(options.data, tokenizer, options.held_out_every);
}

// As the training was begun, or from its data.
Result<HeadReading> reading_of(const HeadOptions& options, const RunFolder& folder, const HeadConfig& config,
                               const HeadData& data) {
  if (folder.has_checkpoint() && std::filesystem::exists(folder.reading())) return read_reading(folder.reading());
  TRY(std::vector<float> scales, feature_scales(data, config.width()));
  HeadReading reading{.vocabulary = frequent_tokens(data.train(), config.target.vocabulary, options.draft_vocabulary),
                      .scales = std::move(scales)};
  TRY_VOID(write_reading(folder.reading(), reading));
  return reading;
}

HeadTrainingSettings settings_of(const HeadOptions& options, const ComputeDevice& compute) {
  HeadTrainingSettings settings = options.training;
  settings.seed = options.seed;
  if (settings.minutes > 0) settings.steps = std::numeric_limits<int64_t>::max();
  if (settings.micro_batch == 0) settings.micro_batch = compute.on_gpu() ? kMicroBatchOnGpu : 1;
  return settings;
}

// Names are the flags, where there is one.
Result<Conditions> conditions_of(const HeadOptions& options, const LlamaConfig& target, const HeadTrainingSettings& settings,
                                 const HeadData& data, const ComputeDevice& compute) {
  std::vector<uint64_t> before;
  for (const auto& folder : options.begin_with) {
    TRY(const uint64_t hash, hash_weights(folder, target));
    before.push_back(hash);
  }
  if (before.empty()) before.push_back(0);
  Conditions conditions{{"the first weights' hash", fmt::format("{:016x}", fmt::join(before, " "))},
                        {"the target's hash", fmt::format("{:016x}", data.origin().weights)},
                        {"the data's hash", fmt::format("{:016x}", data.hash())},
                        {"--held-out-every", fmt::format("{}", options.held_out_every)},
                        {"--draft-vocabulary", fmt::format("{}", options.draft_vocabulary)},
                        {"--seed", fmt::format("{}", options.seed)},
                        {"--steps", fmt::format("{}", settings.steps)},
                        {"--minutes", fmt::format("{}", settings.minutes)},
                        {"--batch", fmt::format("{}", settings.batch)},
                        {kMicroBatchCondition, fmt::format("{}", settings.micro_batch)},
                        {"--unroll", fmt::format("{}", settings.unroll)},
                        {"--step-weight", fmt::format("{}", settings.step_weight)},
                        {"--learning-rate", fmt::format("{}", settings.learning_rate)},
                        {"--warmup-steps", fmt::format("{}", settings.warmup_steps)},
                        {"--decay", fmt::format("{}", settings.decay)},
                        {"--clip", fmt::format("{}", settings.clip)},
                        {"--freeze-output", settings.freeze_output ? "yes" : "no"},
                        {"--bf16", settings.bf16 ? "yes" : "no"}};
  // Unset it is unnamed, so that trainings that were begun before there was such a flag go on.
  // Chats that are computed at once share their extra tokens, so their number decides, too.
  if (settings.extra_tokens > 0) {
    conditions["--extra-tokens"] = fmt::format("{}, {} chats at once", settings.extra_tokens, settings.micro_batch);
  }
  conditions.merge(compute.rounding());
  return conditions;
}

struct HeadRun {
  const HeadOptions& options;
  const RunFolder& folder;
  const Conditions& conditions;
  const HeadFile& head;
  const HeadTarget& target;
  bool on_gpu = false;
};

Result<void> write_state(const HeadRun& run, const HeadTraining& training, ProgressLine& progress) {
  TRY_VOID(run.folder.sync_losses());
  TRY_VOID(training.save(run.folder.checkpoint(), run.conditions));
  TRY_VOID(write_head_folder(run.folder.model(), run.head, run.target.output, training.weights()));
  TRY(const HeldOut held_out, training.held_out(kHeldOutChatsMax));
  progress.say(fmt::format("step {}: {}", training.steps_done(), text_of(held_out)));
  return {};
}

using Clock = std::chrono::steady_clock;

ProgressLine progress_of(const HeadRun& run, const HeadTraining& training, Clock::time_point began) {
  const HeadTrainingSettings& settings = run.options.training;
  if (settings.minutes <= 0) return {settings.steps, training.tokens_of_a_step(), training.steps_done()};
  const std::chrono::duration<double, std::ratio<60>> time(settings.minutes);
  return {began + std::chrono::duration_cast<Clock::duration>(time), training.tokens_of_a_step(), training.steps_done()};
}

// Steps until it is done or a stop is asked for. Each checkpoint is a head that can be served, too.
// A GPU computes on while nobody reads its losses.
Result<RunEnd> run_steps(const HeadRun& run, HeadTraining& training, std::stop_token stop) {
  // As if it had never been cut off.
  const std::chrono::duration<double> before(training.seconds_done());
  const Clock::time_point began = Clock::now() - std::chrono::duration_cast<Clock::duration>(before);
  ProgressLine progress = progress_of(run, training, began);
  while (!training.finished()) {
    const Clock::time_point now = Clock::now();
    TRY_VOID(training.step(std::chrono::duration<double>(now - began).count()));
    const bool ends = stop.stop_requested() || training.finished();
    const bool writes = ends || training.steps_done() % run.options.checkpoint_steps == 0;
    if (run.on_gpu && !writes && !progress.due(now)) continue;
    TRY(const std::vector<StepReport> reports, training.reports());
    TRY_VOID(run.folder.add_losses(reports));
    progress.step(reports.back().step, reports.back().loss, Clock::now());
    if (writes) TRY_VOID(write_state(run, training, progress));
    if (ends && !training.finished()) return RunEnd::stopped;
  }
  return RunEnd::finished;
}

Result<Weights> first_weights(const HeadOptions& options, const HeadFile& head, const HeadTarget& target) {
  if (options.begin_with.empty()) return first_head_weights(head.config, target, head.scales, options.seed);
  std::vector<Weights> heads;
  for (const auto& folder : options.begin_with) {
    TRY(Weights weights, read_head_folder(folder, head, target.output));
    heads.push_back(std::move(weights));
  }
  return Weights::mean(heads);
}

std::string length_of(const HeadTrainingSettings& settings) {
  return settings.minutes > 0 ? fmt::format("{:g} minutes", settings.minutes) : fmt::format("{} steps", settings.steps);
}

}  // namespace

Result<RunEnd> train_head(const HeadOptions& options, std::stop_token stop) {
  TRY(const ComputeDevice compute, ComputeDevice::open(options.device, options.threads));
  TRY(const RunFolder folder, RunFolder::open(options.out));
  HeadConfig config;
  TRY(config.target, read_llama_config(options.model));
  TRY(const HeadData data, data_of(options, config.target, compute.threads(), stop));
  TRY(config.taps, head_taps(data.origin(), options.model, config.target, options.data));
  TRY(const HeadReading reading, reading_of(options, folder, config, data));
  config.vocabulary = reading.vocabulary;
  const HeadFile head{.config = config, .scales = reading.scales, .target_weights = data.origin().weights};
  TRY(const HeadTarget target, HeadTarget::load(options.model, config, options.training.extra_tokens > 0));
  const HeadTrainingSettings settings = settings_of(options, compute);
  TRY(const Conditions conditions, conditions_of(options, config.target, settings, data, compute));
  TRY(const Weights weights, first_weights(options, head, target));
  fmt::print("{} thousand weights, {} chats and {} held out, {} of {} chats, {}\n", weights.numbers() / 1000,
             data.train().size(), data.held_out().size(), length_of(settings), settings.batch, compute.name());
  HeadExamples examples(config, target.on(compute.device()), reading.scales, settings.compute());
  HeadTraining training(config, weights.on(compute.device()), std::move(examples), data, settings);
  if (folder.has_checkpoint()) {
    TRY_VOID(training.restore(folder.checkpoint(), conditions));
    fmt::print("going on after step {}\n", training.steps_done());
  }
  std::fflush(stdout);
  TRY_VOID(folder.keep_losses(training.steps_done()));
  const HeadRun run{.options = options,
                    .folder = folder,
                    .conditions = conditions,
                    .head = head,
                    .target = target,
                    .on_gpu = compute.on_gpu()};
  TRY(const RunEnd end, run_steps(run, training, stop));
  if (end == RunEnd::stopped) {
    fmt::print("stopped after step {}: the same command goes on\n", training.steps_done());
    return end;
  }
  fmt::print("trained: {}\n", folder.model().string());
  return end;
}

}  // namespace slipstream::train
