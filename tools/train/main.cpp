// The `slipstream-train` command: trains models that draft. The services do not need it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/build_info.h"
#include "common/base/device_name.h"
#include "common/base/limits.h"
#include "common/base/stop_signal.h"
#include "common/checkpoint/llama_config.h"
#include "common/config/byte_size.h"
#include "common/config/settings.h"
#include "common/config/settings_checks.h"
#include "common/config/subcommands.h"
#include "common/model/heads/acceptance_head.h"
#include "tools/train/commands.h"

namespace slipstream::train {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitStopped = 3;  // by a signal, after a checkpoint: the same command goes on
constexpr int64_t kStepsMax = 100'000'000;
constexpr int32_t kExtraTokensMax = 8192;  // learned of a chat
constexpr int kAnswerTokensMax = 4096;     // of a trace: a draft lies behind each of them

int failed(std::string_view message, int status = kExitFailed) {
  std::fflush(stdout);
  fmt::print(stderr, "slipstream-train: {}\n", message);
  return status;
}

CLI::App* shard_flags(CLI::App& app, ShardOptions& options) {
  CLI::App* shard = app.add_subcommand("shard", "Make a shard, a file of token ids, of texts or chats");
  shard->add_option("shard", options.shard, "The file to write")->required();
  shard->add_option("--text", options.texts, "Files of text: *.jsonl has a \"text\" in each line, any other is one text");
  shard->add_option("--documents", options.chats, "Files of chats, which tools/train/target_documents.py writes");
  shard->add_option("--model", options.model, "The model whose tokenizer makes the ids")->capture_default_str();
  return shard;
}

void device_flag(CLI::App& command, DeviceName& device, const char* help) {
  const CLI::Validator known(
      [](std::string& text) {
        return device_name(text) ? std::string() : fmt::format("\"{}\" is not known; choose one of: {}", text, kDeviceChoices);
      },
      "DEVICE");
  command
      .add_option_function<std::string>(
          "--device", [&device](const std::string& text) { device = *device_name(text); }, help)
      ->check(known)
      ->default_str(std::string(kCpuDevice));
}

void shape_flags(CLI::App& run, RunOptions& options) {
  const auto size = [&](const char* flag, std::optional<int32_t>& value, int32_t most, const char* help) {
    run.add_option(flag, value, help)->check(CLI::Range(1, most))->group("A model with new weights");
  };
  CLI::Option* fresh = run.add_flag("--new-weights", options.new_weights, "Begin with random weights, not with the model's")
                           ->group("A model with new weights");
  size("--layers", options.shape.layers, kLayersMax, "Blocks; none of these sizes given: the model's own");
  size("--hidden", options.shape.hidden, kHiddenMax, "Width of the residual");
  size("--intermediate", options.shape.intermediate, kIntermediateMax, "Width inside an MLP");
  size("--heads", options.shape.heads, kHeadsMax, "Attention heads");
  size("--kv-heads", options.shape.kv_heads, kHeadsMax, "Key-value heads; with --heads alone: as many");
  size("--head-size", options.shape.head_size, kHeadSizeMax, "Width of a head");
  run.add_option("--keep-layers", options.keep_layers, "Begin with these layers of the model alone, ascending, from 0")
      ->check(CLI::Range(0, kLayersMax - 1))
      ->excludes(fresh)
      ->group("A model of some layers");
}

void teacher_flags(CLI::App& run, RunOptions& options) {
  constexpr const char* kGroup = "A model that learns from another one";
  CLI::Option* teacher =
      run.add_option(
             "--teacher", options.teacher,
             "Learn its distributions, not the next tokens: a folder or GGUF file of the same tokenizer, such as the target")
          ->group(kGroup);
  run.add_option_function<std::string>(
         "--loss",
         [&options](const std::string& name) {
           options.divergence = static_cast<Divergence>(std::ranges::find(kDivergences, name) - kDivergences.begin());
         },
         "How far it is from the teacher")
      ->check(CLI::IsMember(std::vector<std::string>(kDivergences.begin(), kDivergences.end())))
      ->default_str(std::string(kDivergences.front()))
      ->needs(teacher)
      ->group(kGroup);
  CLI::Option* features =
      run.add_option(
             "--features", options.features,
             "In place of --data: folder of `collect` of the teacher's chats, whose answers it learns without computing it")
          ->needs(teacher)
          ->group(kGroup);
  run.add_option("--held-out-every", options.held_out_every, "With --features: of so many chats one is held out")
      ->check(CLI::Range(2, 1 << 20))
      ->needs(features)
      ->capture_default_str()
      ->group(kGroup);
}

CLI::App* run_flags(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "Train a model; the same command goes on with what was cut off");
  const auto option = [run](const char* flag, auto& value, const char* help) {
    return run->add_option(flag, value, help)->capture_default_str();
  };
  TrainingSettings& training = options.training;
  option("--out", options.out, "Folder for checkpoints, losses and the model")->required();
  option("--data", options.data, "Shards to train on");
  option("--held-out", options.held_out, "Shards whose loss each checkpoint tells");
  option("--model", options.model, "First weights, sizes and tokenizer: a Hugging Face folder or a GGUF file");
  option("--length", options.length, "Tokens of a sequence")->check(CLI::Range(1, kContextTokensMax));
  option("--steps", training.steps, "Steps of the whole training")->check(CLI::Range(int64_t{1}, kStepsMax));
  option("--batch", options.sizes.batch, "Sequences of a step, or chats of --features")->check(CLI::Range(1, 1 << 20));
  option("--micro-batch", options.sizes.micro_batch, "Of them, those computed at once; fewer take less memory")
      ->check(CLI::Range(1, 1 << 20));
  option("--learning-rate", training.learning_rate, "The highest")->check(number_between(0, 1000));
  option("--warmup-steps", training.warmup_steps, "Steps over which it rises")->check(CLI::Range(int64_t{0}, kStepsMax));
  option("--decay", training.decay, "Weight decay of AdamW")->check(number_between(0, 100));
  option("--clip", training.clip, "Norm of a step's gradients, at most")->check(number_between(1e-9, 1e9));
  run->add_flag("--bf16", training.bf16, "Compute matrices and attention in bf16");
  option("--seed", options.seed, "Of new weights and of the order of the data");
  device_flag(*run, options.device, "What computes: cpu, or cuda:N");
  option("--threads", options.threads, "0: as many as there are CPUs")->check(CLI::Range(0, 256));
  option("--checkpoint-steps", options.checkpoint_steps, "Steps between two checkpoints")
      ->check(CLI::Range(int64_t{1}, kStepsMax));
  shape_flags(*run, options);
  teacher_flags(*run, options);
  return run;
}

CLI::App* answer_flags(CLI::App& app, AnswerOptions& options) {
  CLI::App* answer = app.add_subcommand("answer", "Let the target answer the prompts of chats anew");
  const auto option = [answer](const char* flag, auto& value, const char* help) {
    return answer->add_option(flag, value, help)->capture_default_str();
  };
  option("--documents", options.documents, "Files of chats, which tools/train/target_documents.py writes")->required();
  option("--out", options.out, "The file to write, of chats again")->required();
  option("--model", options.model, "The target, as it is served");
  option("--answer-tokens", options.answers.answer_tokens, "Longest answer")->check(CLI::Range(1, kAnswerTokensMax));
  option("--temperature", options.answers.temperature, "Of the answers; 0: greedy")->check(number_between(0, 2));
  option("--seed", options.answers.seed, "Of the first answer; each later one's is one more");
  device_flag(*answer, options.device, "What computes the target, as in `serve`: cpu, torch-cpu or cuda:N");
  option("--path", options.path, "Of cpu: its instructions; auto: fastest for one row")->check(CLI::IsMember(path_choices()));
  option("--threads", options.threads, "0: as many as there are CPUs")->check(CLI::Range(0, 256));
  return answer;
}

CLI::App* collect_flags(CLI::App& app, CollectOptions& options) {
  CLI::App* collect = app.add_subcommand("collect", "Collect a target's features of chats; the same command goes on");
  collect->add_option("--documents", options.documents, "Files of chats, which tools/train/target_documents.py writes")
      ->required();
  collect->add_option("--out", options.out, "Folder for the feature shards")->required();
  collect->add_option("--model", options.model, "The target, as it is served")->capture_default_str();
  collect->add_option("--taps", options.taps, "Layers whose inputs are collected, ascending; none: 2, half, all but three")
      ->check(CLI::Range(0, kLayersMax))
      ->expected(1, static_cast<int>(kTapsMax) - 1);
  device_flag(*collect, options.device, "What computes the target, as in `serve`: cpu, torch-cpu or cuda:N");
  collect->add_option("--path", options.path, "Of cpu: its instructions; auto: fastest for one row")
      ->check(CLI::IsMember(path_choices()))
      ->capture_default_str();
  collect->add_option("--threads", options.threads, "0: as many as there are CPUs")->check(CLI::Range(0, 256));
  return collect;
}

void head_data_flags(CLI::App& head, HeadOptions& options) {
  CLI::Option* data = head.add_option("--data", options.data, "Folder of feature shards")->capture_default_str();
  head.add_option("--documents", options.documents,
                  "Instead of them: files of chats, whose features are computed beside the training")
      ->excludes(data);
  head.add_option("--taps", options.taps, "With --documents, as `collect` has them")
      ->check(CLI::Range(0, kLayersMax))
      ->expected(1, static_cast<int>(kTapsMax) - 1);
  head.add_option_function<std::string>(
          "--feature-memory", [&options](const std::string& text) { options.feature_bytes = *byte_size(text); },
          "With --documents: what their features may take (16GiB); unset: half of the memory that is free")
      ->check(CLI::Validator(
          [](std::string& text) {
            const auto size = byte_size(text);
            return size ? std::string() : size.error().message;
          },
          "SIZE"));
}

CLI::App* head_flags(CLI::App& app, HeadOptions& options) {
  CLI::App* head = app.add_subcommand("head", "Train a draft head; the same command goes on with what was cut off");
  const auto option = [head](const char* flag, auto& value, const char* help) {
    return head->add_option(flag, value, help)->capture_default_str();
  };
  HeadTrainingSettings& training = options.training;
  training.micro_batch = 0;
  option("--out", options.out, "Folder for checkpoints, losses and the head")->required();
  head_data_flags(*head, options);
  option("--model", options.model, "The target whose features they are");
  head->add_option("--begin-with", options.begin_with,
                   "A trained head of the same shape, whose weights come first; of several heads their mean");
  option("--draft-vocabulary", options.draft_vocabulary, "Tokens that the head can draft, the most frequent ones")
      ->check(CLI::Range(1, kVocabularyMax));
  option("--unroll", training.unroll, "Steps of unrolling: the depth of drafts that it learns")->check(CLI::Range(1, 16));
  option("--step-weight", training.step_weight, "The loss of a step counts this to the power of its number")
      ->check(number_between(0, 1));
  CLI::Option* steps = option("--steps", training.steps, "Steps of the whole training");
  steps->check(CLI::Range(int64_t{1}, kStepsMax));
  option("--minutes", training.minutes, "Instead of steps: how long it trains; the learning rate falls in the last 0.4 of it")
      ->check(number_between(0.01, 100'000))
      ->excludes(steps);
  option("--batch", training.batch, "Chats of a step")->check(CLI::Range(1, 1 << 20));
  option("--micro-batch", training.micro_batch, "Chats computed at once; 0: 1 on a CPU, 16 on a GPU")
      ->check(CLI::Range(0, 1 << 20));
  option("--learning-rate", training.learning_rate, "The highest")->check(number_between(0, 1000));
  option("--warmup-steps", training.warmup_steps, "Steps over which it rises")->check(CLI::Range(int64_t{0}, kStepsMax));
  option("--decay", training.decay, "Weight decay of AdamW")->check(number_between(0, 100));
  option("--clip", training.clip, "Norm of a step's gradients, at most")->check(number_between(1e-9, 1e9));
  CLI::Option* freeze =
      head->add_flag("--freeze-output", training.freeze_output, "The output head stays the target's own: less to compute");
  option("--extra-tokens", training.extra_tokens,
         "Tokens outside the draft vocabulary, of each chat, that it learns to draft, too")
      ->check(CLI::Range(0, kExtraTokensMax))
      ->needs(freeze);
  head->add_flag("--bf16", training.bf16, "Compute matrices and attention in bf16");
  option("--seed", options.seed, "Of new weights and of the order of the chats");
  device_flag(*head, options.device, "What computes the head and the features of --documents: cpu, torch-cpu or cuda:N");
  head->add_option("--path", options.path, "Of cpu, for these features: its instructions; auto: fastest for one row")
      ->check(CLI::IsMember(path_choices()))
      ->capture_default_str();
  option("--threads", options.threads, "0: as many as there are CPUs")->check(CLI::Range(0, 256));
  option("--checkpoint-steps", options.checkpoint_steps, "Steps between two checkpoints")
      ->check(CLI::Range(int64_t{1}, kStepsMax));
  option("--held-out-every", options.held_out_every, "Of so many chats one is held out")->check(CLI::Range(2, 1 << 20));
  return head;
}

// One of two drafters. An acceptance head is written beside it.
void drafter_flags(CLI::App& command, DrafterPath& drafter) {
  CLI::Option_group* one = command.add_option_group("drafter");
  one->add_option("--head", drafter.head, "Folder of the target's draft head");
  one->add_option("--draft-model", drafter.small_model,
                  "Or a small model with the target's tokenizer: a folder or a GGUF file");
  one->require_option(1);
}

CLI::App* trace_flags(CLI::App& app, TraceOptions& options) {
  CLI::App* trace = app.add_subcommand("trace", "Trace what a drafter would have drafted, for its acceptance head");
  const auto option = [trace](const char* flag, auto& value, const char* help) {
    return trace->add_option(flag, value, help)->capture_default_str();
  };
  option("--documents", options.documents, "Files of chats whose prompts are answered anew")->required();
  drafter_flags(*trace, options.drafter);
  option("--out", options.out, "The file to write")->required();
  option("--model", options.model, "The target, as it is served");
  option("--skip", options.skip, "Chats before the first")->check(CLI::Range(int64_t{0}, kStepsMax));
  option("--chats", options.chats, "How many, at most")->check(CLI::Range(int64_t{1}, kStepsMax));
  option("--answer-tokens", options.trace.answers.answer_tokens, "Longest answer")->check(CLI::Range(1, kAnswerTokensMax));
  option("--depth", options.trace.depth, "Tokens of a draft")->check(CLI::Range(1, kTreeDepthMax));
  option("--temperature", options.trace.answers.temperature, "Of the answers; 0: greedy")->check(number_between(0, 2));
  option("--seed", options.trace.answers.seed, "Of the first answer; each later one's is one more");
  device_flag(*trace, options.device, "What computes target and drafter, as in `serve`: cpu, torch-cpu or cuda:N");
  option("--threads", options.threads, "0: as many as there are CPUs")->check(CLI::Range(0, 256));
  return trace;
}

CLI::App* acceptance_flags(CLI::App& app, AcceptanceOptions& options) {
  CLI::App* acceptance = app.add_subcommand("acceptance", "Train an acceptance head for a drafter, of traces");
  const auto option = [acceptance](const char* flag, auto& value, const char* help) {
    return acceptance->add_option(flag, value, help)->capture_default_str();
  };
  drafter_flags(*acceptance, options.drafter);
  option("--traces", options.traces, "What to train on")->required();
  option("--layers", options.layers, "Layers before the last; several: all are trained, and the best is kept")
      ->check(CLI::Range(0, kAcceptanceLayersMax));
  option("--reject-weights", options.reject_weights, "Weights of rejected tokens in the loss; several, as well")
      ->check(number_between(0.01, 100));
  option("--epochs", options.training.epochs, "Times that it sees all of the data")->check(CLI::Range(1, 1000));
  option("--batch", options.training.batch, "Drafted tokens of a step")->check(CLI::Range(1, 1 << 20));
  option("--learning-rate", options.training.learning_rate, "The highest")->check(number_between(0, 1000));
  option("--decay", options.training.decay, "Weight decay of AdamW")->check(number_between(0, 100));
  option("--held-out-every", options.held_out_every, "Of so many chats one calibrates and one measures")
      ->check(CLI::Range(3, 1 << 20));
  option("--seed", options.seed, "Of first weights and of the order of the data");
  device_flag(*acceptance, options.device, "What computes: cpu, or cuda:N");
  option("--threads", options.threads, "0: as many as there are CPUs")->check(CLI::Range(0, 256));
  acceptance->add_option("--replay", options.replay, "Traces whose drafts are predicted, for research/specdec");
  acceptance->add_option("--predictions", options.predictions, "Folder for these predictions");
  return acceptance;
}

// What torch's libraries read from the environment when they are loaded.
// - OpenMP's threads spin where they wait for each other. On a machine that has other work to do, a
//   spinning thread takes the core that the awaited one needs. (Measured once, beside a compiler on
//   two cores: 30 steps took 11.2 s, without spinning 3.0 s.)
// - oneDNN makes a program for each shape of a product, and forgets the oldest of 1,024. Chats have
//   more lengths than that, and making them anew took a seventh of a training.
constexpr std::pair<const char*, const char*> kEnvironment[] = {{"OMP_WAIT_POLICY", "passive"},
                                                                {"ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192"}};

// The program begins once more with them. What the user has set stays.
void begin_with_environment(char** argv) {
  bool changed = false;
  for (const auto& [name, value] : kEnvironment) {
    if (std::getenv(name) == nullptr && ::setenv(name, value, 1) == 0) changed = true;
  }
  if (changed) ::execv("/proc/self/exe", argv);  // returns only if it fails: then this process goes on
}

// A step takes and returns the same megabytes: asking the system for them each time costs a fault
// for each page.
void keep_memory() {
  constexpr int kFromHeapBytes = 32 << 20;  // the most that glibc takes
  constexpr int kKeptBytes = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kFromHeapBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

int run(int argc, char** argv) {
  CLI::App app("Trains models that draft for Slipstream.");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", build_summary());
  ShardOptions sharding;
  const CLI::App* shard = shard_flags(app, sharding);
  RunOptions training;
  const CLI::App* training_run = run_flags(app, training);
  AnswerOptions answering;
  const CLI::App* answer = answer_flags(app, answering);
  CollectOptions collecting;
  const CLI::App* collect = collect_flags(app, collecting);
  HeadOptions head_training;
  const CLI::App* head = head_flags(app, head_training);

  TraceOptions tracing;
  const CLI::App* trace = trace_flags(app, tracing);
  AcceptanceOptions accepting;
  const CLI::App* acceptance = acceptance_flags(app, accepting);

  if (const auto exit = parse_subcommand(app, argc, argv, "slipstream-train")) return *exit;
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return kExitFailed;
  }
  if (shard->parsed() && sharding.texts.empty() && sharding.chats.empty()) {
    return failed("shard: name --text, files of text, or --documents, files of chats", kExitUsage);
  }
  if (shard->parsed()) {
    const auto made = make_shard(sharding);
    return made ? 0 : failed(made.error().message);
  }
  if (training.sizes.batch % training.sizes.micro_batch != 0) {
    return failed(fmt::format("--micro-batch {} must divide --batch {}", training.sizes.micro_batch, training.sizes.batch),
                  kExitUsage);
  }
  if (training_run->parsed() && training.data.empty() == training.features.empty()) {
    return failed("run: name --data, shards, or --features of a teacher's chats", kExitUsage);
  }
  if (!training.features.empty() && !training.held_out.empty()) {
    return failed("run: of --features each --held-out-every'th chat is held out: leave --held-out out", kExitUsage);
  }
  if (head->parsed() && head_training.data.empty() && head_training.documents.empty()) {
    return failed("head: name --data, a folder of feature shards, or --documents", kExitUsage);
  }
  begin_with_environment(argv);
  keep_memory();
  const StopSignal stop;  // before torch starts a thread: threads inherit its signal mask
  const auto end = answer->parsed()       ? answer_chats(answering, stop.token())
                   : collect->parsed()    ? collect_features(collecting, stop.token())
                   : head->parsed()       ? train_head(head_training, stop.token())
                   : trace->parsed()      ? trace_drafts(tracing, stop.token())
                   : acceptance->parsed() ? train_acceptance(accepting, stop.token())
                                          : run_training(training, stop.token());
  if (!end) return failed(end.error().message);
  return *end == RunEnd::finished ? 0 : kExitStopped;
}

}  // namespace
}  // namespace slipstream::train

// torch throws; what it throws is a want of memory, or a mistake of ours.
int main(int argc, char** argv) {
  try {
    return slipstream::train::run(argc, argv);
  } catch (const std::exception& error) {
    return slipstream::train::failed(fmt::format("{}\nIf memory is short, lower --micro-batch or --length.", error.what()));
  }
}
