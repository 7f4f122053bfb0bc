#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/checkpoint/fingerprint.h"
#include "tools/train/chat_lessons.h"
#include "tools/train/commands.h"
#include "tools/train/compute_device.h"
#include "tools/train/model_folder.h"
#include "tools/train/progress_line.h"
#include "tools/train/run_folder.h"
#include "tools/train/sequence_lessons.h"

namespace slipstream::train {
namespace {

Result<LlamaConfig> with_kept_layers(LlamaConfig config, const std::vector<int32_t>& kept) {
  if (kept.empty()) return config;
  if (std::ranges::adjacent_find(kept, std::ranges::greater_equal()) != kept.end() || kept.back() >= config.layers) {
    return fail("--keep-layers names layers of the model, 0 to {}, each once and ascending", config.layers - 1);
  }
  config.layers = static_cast<int32_t>(kept.size());
  return config;
}

Result<LlamaConfig> config_of(const RunOptions& options) {
  TRY(LlamaConfig config, read_llama_config(options.model));
  if (!options.new_weights) {
    if (options.shape.any()) return fail("sizes such as --layers are for a model with new weights: add --new-weights");
    return with_kept_layers(std::move(config), options.keep_layers);
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
  return Weights::load(checkpoint, tensors, options.keep_layers);
}

// REQUIRES: there is a teacher.
Result<LlamaConfig> teacher_config(const RunOptions& options, const LlamaConfig& model) {
  TRY(LlamaConfig config, read_llama_config(options.teacher));
  TRY_VOID(check_trainable(config));
  TRY(const uint64_t tokenizer, hash_tokenizer(options.model));
  TRY(const uint64_t theirs, hash_tokenizer(options.teacher));
  if (theirs != tokenizer) {
    return fail("{} has another tokenizer than {}: a model learns from a teacher of its own tokenizer alone",
                options.teacher.string(), options.model.string());
  }
  if (config.vocabulary != model.vocabulary) {
    return fail("{} has {} tokens, and {} has {}: a model learns from a teacher of as many tokens alone",
                options.teacher.string(), config.vocabulary, options.model.string(), model.vocabulary);
  }
  if (options.features.empty() && options.length > config.context_max) {
    return fail("--length {} is over the teacher's context of {} tokens", options.length, config.context_max);
  }
  return config;
}

Result<Teacher> load_teacher(const RunOptions& options, const LlamaConfig& config, at::Device device) {
  TRY(const Checkpoint checkpoint, Checkpoint::open(options.teacher));
  TRY(const Weights weights, Weights::load(checkpoint, llama_tensors(config)));
  return Teacher{.module = LlamaModule(config, weights.on(device), options.length, options.training.compute()),
                 .divergence = options.divergence};
}

// What is learned from, and the hash of it.
struct Taught {
  std::unique_ptr<Lessons> lessons;
  uint64_t hash = 0;
  std::string words;  // how much it is
};

Result<Taught> sequence_lessons(const RunOptions& options, const LlamaConfig& config,
                                const std::optional<LlamaConfig>& teaching, at::Device device) {
  TRY(Sequences data, sequences_of(options, options.data, config));
  std::optional<Sequences> held_out;
  if (!options.held_out.empty()) {
    TRY(held_out, sequences_of(options, options.held_out, config));
  }
  std::optional<Teacher> teacher;
  if (teaching) {
    TRY(teacher, load_teacher(options, *teaching, device));
  }
  Taught taught{.hash = data.hash(), .words = fmt::format("{} sequences of {} tokens", data.count(), options.length)};
  taught.lessons =
      std::make_unique<SequenceLessons>(std::move(data), std::move(held_out), std::move(teacher), options.sizes, device);
  return taught;
}

Result<Taught> chat_lessons(const RunOptions& options, const LlamaConfig& teaching, at::Device device) {
  TRY(const uint64_t tokenizer, hash_tokenizer(options.teacher));
  TRY(HeadData data, HeadData::open(options.features, tokenizer, options.held_out_every));
  HeadConfig config{.target = teaching};
  TRY(config.taps, head_taps(data.origin(), options.teacher, teaching, options.features));
  config.vocabulary.resize(static_cast<size_t>(teaching.vocabulary));
  std::iota(config.vocabulary.begin(), config.vocabulary.end(), TokenId{0});
  TRY(const HeadTarget target, HeadTarget::load(options.teacher, config));
  Taught taught{.hash = data.hash(),
                .words = fmt::format("{} chats and {} held out", data.train().size(), data.held_out().size())};
  taught.lessons = std::make_unique<ChatLessons>(config, std::move(data), target.on(device), options.divergence, options.sizes,
                                                 options.seed, options.training.compute());
  return taught;
}

// Names are the flags, where there is one. Bits also depend on the instructions that torch selects.
Result<Conditions> conditions_of(const RunOptions& options, const LlamaConfig& config,
                                 const std::optional<LlamaConfig>& teacher, uint64_t data, const ComputeDevice& compute) {
  const TrainingSettings& settings = options.training;
  uint64_t weights = 0;
  if (!options.new_weights) {
    TRY(const LlamaConfig whole, read_llama_config(options.model));
    TRY(weights, hash_weights(options.model, whole));
  }
  Conditions conditions{{"--new-weights", options.new_weights ? "yes" : "no"},
                        {"the weights' hash", fmt::format("{:016x}", weights)},
                        {"the data's hash", fmt::format("{:016x}", data)},
                        {"--length", fmt::format("{}", options.length)},
                        {"--seed", fmt::format("{}", options.seed)},
                        {"--steps", fmt::format("{}", settings.steps)},
                        {"--batch", fmt::format("{}", options.sizes.batch)},
                        {kMicroBatchCondition, fmt::format("{}", options.sizes.micro_batch)},
                        {"--learning-rate", fmt::format("{}", settings.learning_rate)},
                        {"--warmup-steps", fmt::format("{}", settings.warmup_steps)},
                        {"--decay", fmt::format("{}", settings.decay)},
                        {"--clip", fmt::format("{}", settings.clip)},
                        {"--bf16", settings.bf16 ? "yes" : "no"}};
  if (options.new_weights) {
    conditions.emplace("the sizes", fmt::format("{} layers, {}, {}, {} heads of {}, {} for keys", config.layers, config.hidden,
                                                config.intermediate, config.heads, config.head_size, config.kv_heads));
  }
  if (!options.features.empty()) conditions.emplace("--held-out-every", fmt::format("{}", options.held_out_every));
  if (!options.keep_layers.empty()) {
    conditions.emplace("--keep-layers", fmt::format("{}", fmt::join(options.keep_layers, " ")));
  }
  if (teacher) {
    TRY(const uint64_t hash, hash_weights(options.teacher, *teacher));
    conditions.emplace("the teacher's hash", fmt::format("{:016x}", hash));
    conditions.emplace("--loss", divergence_name(options.divergence));
  }
  conditions.merge(compute.rounding());
  return conditions;
}

struct Run {
  const RunOptions& options;
  const RunFolder& folder;
  const Conditions& conditions;
  bool on_gpu = false;
};

Result<void> write_state(const Run& run, const Training& training, ProgressLine& progress) {
  TRY_VOID(run.folder.sync_losses());
  TRY_VOID(training.save(run.folder.checkpoint(), run.conditions));
  TRY(const std::optional<HeldOutLoss> held_out, training.held_out());
  if (!held_out) return {};
  std::string said = fmt::format("step {}: held-out loss {:.3f}", training.steps_done(), held_out->loss);
  if (const Agreement& agreed = held_out->agreement; agreed.rows > 0) {
    const auto rows = static_cast<double>(agreed.rows);
    said += fmt::format(", the teacher would accept {:.3f} greedily and {:.3f} at temperature 1", agreed.greedily / rows,
                        agreed.sampled / rows);
  }
  progress.say(said);
  return {};
}

// Steps until all are done or a stop is asked for. Each checkpoint also gives the held-out loss. A
// GPU computes on while nobody reads its losses.
Result<RunEnd> run_steps(const Run& run, Training& training, std::stop_token stop) {
  const int64_t steps = run.options.training.steps;
  ProgressLine progress(steps, training.tokens_of_a_step(), training.steps_done());
  while (training.steps_done() < steps) {
    TRY_VOID(training.step());
    const bool ends = stop.stop_requested() || training.steps_done() == steps;
    const bool writes = ends || training.steps_done() % run.options.checkpoint_steps == 0;
    if (run.on_gpu && !writes && !progress.due(ProgressLine::Clock::now())) continue;
    TRY(const std::vector<StepReport> reports, training.reports());
    TRY_VOID(run.folder.add_losses(reports));
    progress.step(reports.back().step, reports.back().loss, ProgressLine::Clock::now());
    if (writes) TRY_VOID(write_state(run, training, progress));
    if (ends && training.steps_done() < steps) return RunEnd::stopped;
  }
  return RunEnd::finished;
}

}  // namespace

Result<RunEnd> run_training(const RunOptions& options, std::stop_token stop) {
  TRY(const ComputeDevice compute, ComputeDevice::open(options.device, options.threads));
  TRY(const LlamaConfig config, config_of(options));
  TRY_VOID(hf_config_json(config));  // before hours of training, not after
  std::optional<LlamaConfig> teaching;
  if (!options.teacher.empty()) {
    TRY(teaching, teacher_config(options, config));
  }
  TRY(Taught taught, options.features.empty() ? sequence_lessons(options, config, teaching, compute.device())
                                              : chat_lessons(options, *teaching, compute.device()));
  TRY(const Conditions conditions, conditions_of(options, config, teaching, taught.hash, compute));
  TRY(const RunFolder folder, RunFolder::open(options.out));
  TRY(const Weights weights, first_weights(options, config));
  fmt::print("{} million weights, {}, {} steps of {}, {}\n", (weights.numbers() + 500'000) / 1'000'000, taught.words,
             options.training.steps, options.sizes.batch, compute.name());
  if (teaching) fmt::print("learns from {} by {}\n", options.teacher.string(), divergence_name(options.divergence));
  Training training(config, weights.on(compute.device()), std::move(taught.lessons), options.training);
  if (folder.has_checkpoint()) {
    TRY_VOID(training.restore(folder.checkpoint(), conditions));
    fmt::print("going on after step {}\n", training.steps_done());
  }
  std::fflush(stdout);
  TRY_VOID(folder.keep_losses(training.steps_done()));
  const Run run{.options = options, .folder = folder, .conditions = conditions, .on_gpu = compute.on_gpu()};
  TRY(const RunEnd end, run_steps(run, training, stop));
  if (end == RunEnd::stopped) {
    fmt::print("stopped after step {}: the same command goes on\n", training.steps_done());
    return end;
  }
  TRY_VOID(write_model_folder(folder.model(), config, training.weights(), options.model));
  fmt::print("trained: {}\n", folder.model().string());
  return end;
}

}  // namespace slipstream::train
