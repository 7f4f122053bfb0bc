// The subcommands of `slipstream-train`, as main.cpp calls them; each is in the .cpp file of its
// name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "common/base/device_name.h"
#include "common/base/result.h"
#include "common/config/settings.h"
#include "tools/train/acceptance_training.h"
#include "tools/train/chat_answerer.h"
#include "tools/train/draft_tracer.h"
#include "tools/train/head_training.h"
#include "tools/train/training.h"

namespace slipstream::train {

struct ShardOptions {
  std::filesystem::path shard;                  // to write
  std::filesystem::path model = kDefaultModel;  // whose tokenizer makes the ids
  std::vector<std::filesystem::path> texts;     // each_document() says which files
  std::vector<std::filesystem::path> chats;     // chat_documents.h says which
};

// slipstream-train shard: makes a shard of texts.
Result<void> make_shard(const ShardOptions& options);

// Sizes of a model with new weights; those that are unset are the source model's.
struct NewShape {
  std::optional<int32_t> layers, hidden, intermediate, heads, kv_heads, head_size;
  bool any() const { return layers || hidden || intermediate || heads || kv_heads || head_size; }
};

struct RunOptions {
  std::filesystem::path out;                          // RunFolder
  std::filesystem::path model = kDefaultModel;        // first weights, configuration, tokenizer
  bool new_weights = false;                           // random first weights
  NewShape shape;                                     // with new_weights alone
  std::vector<int32_t> keep_layers;                   // of the model, ascending; empty: all
  std::vector<std::filesystem::path> data, held_out;  // shards; held_out may be empty
  std::filesystem::path features;                     // of the teacher's chats, in place of data; empty: none
  int64_t held_out_every = 40;                        // of so many of these chats one is held out
  int64_t length = 512;                               // tokens that a sequence predicts
  uint64_t seed = 1;                                  // of new weights and of the order of the data
  DeviceName device;                                  // that computes
  int threads = 0;                                    // 0: as many as this process may use CPUs
  int64_t checkpoint_steps = 100;                     // between two checkpoints
  std::filesystem::path teacher;                      // whose distribution it learns; empty: next tokens
  Divergence divergence = Divergence::forward_kl;     // from the teacher's
  LessonSizes sizes;                                  // of a step: sequences, or chats of features
  TrainingSettings training;
};

enum class RunEnd { finished, stopped };  // stopped: by the stop token, after a checkpoint

// slipstream-train run: trains, or goes on with the training whose checkpoint is in options.out.
Result<RunEnd> run_training(const RunOptions& options, std::stop_token stop);

struct AnswerOptions {
  std::filesystem::path out;                     // the file to write, of chats again
  std::filesystem::path model = kDefaultModel;   // the target, as it is served
  std::vector<std::filesystem::path> documents;  // chats whose prompts are answered (chat_documents.h)
  DeviceName device;                             // that computes the target
  std::string path = "auto";                     // of the cpu device: one of path_choices()
  int threads = 0;                               // 0: as many as this process may use CPUs
  AnswerSettings answers{.answer_tokens = 512, .temperature = 1};
};

// slipstream-train answer: writes chats with new answers.
Result<RunEnd> answer_chats(const AnswerOptions& options, std::stop_token stop);

struct CollectOptions {
  std::filesystem::path out;                     // folder of the feature shards
  std::filesystem::path model = kDefaultModel;   // the target, as it is served
  std::vector<std::filesystem::path> documents;  // chats that it wrote (chat_documents.h)
  std::vector<int32_t> taps;                     // layers whose inputs the head reads; none: default_taps()
  DeviceName device;                             // that computes the target
  std::string path = "auto";                     // of the cpu device: one of path_choices()
  int threads = 0;                               // 0: as many as this process may use CPUs
};

// slipstream-train collect: makes feature shards, or those that are still missing.
Result<RunEnd> collect_features(const CollectOptions& options, std::stop_token stop);

struct HeadOptions {
  std::filesystem::path out;                      // RunFolder
  std::filesystem::path model = kDefaultModel;    // the target of the features
  std::filesystem::path data;                     // folder of feature shards; empty: of `documents` they are computed
  std::vector<std::filesystem::path> documents;   // chats that it wrote (chat_documents.h)
  std::vector<int32_t> taps;                      // with documents, as CollectOptions'
  uint64_t feature_bytes = 0;                     // of memory for their features; 0: half of what there is
  std::vector<std::filesystem::path> begin_with;  // exported heads, the mean of whose weights comes first; empty: new weights
  int32_t draft_vocabulary = 8192;
  uint64_t seed = 1;
  DeviceName device;          // that computes the head, and the features of documents
  std::string path = "auto";  // of the cpu device, for these features
  int threads = 0;
  int64_t checkpoint_steps = 100;
  int64_t held_out_every = 40;  // of so many chats one is held out
  HeadTrainingSettings training;
};

// slipstream-train head: trains a draft head, or goes on with the training in options.out.
Result<RunEnd> train_head(const HeadOptions& options, std::stop_token stop);

struct TraceOptions {
  std::filesystem::path out;                     // the file to write
  std::filesystem::path model = kDefaultModel;   // the target, as it is served
  DrafterPath drafter;                           // its draft head, or a small model
  std::vector<std::filesystem::path> documents;  // chats whose prompts are answered (chat_documents.h)
  int64_t skip = 0;                              // chats before the first
  int64_t chats = 256;                           // how many, at most
  DeviceName device;                             // that computes target and head
  int threads = 0;
  TraceSettings trace;
};

// slipstream-train trace: writes a draft trace, on which an acceptance head is trained.
Result<RunEnd> trace_drafts(const TraceOptions& options, std::stop_token stop);

struct AcceptanceOptions {
  DrafterPath drafter;                        // beside which it is written
  std::vector<std::filesystem::path> traces;  // to train on
  std::vector<std::filesystem::path> replay;  // to predict, for research/specdec
  std::filesystem::path predictions;          // folder of these predictions; empty: none are written
  std::vector<int> layers{1};                 // D: of each one an acceptance head is trained
  std::vector<double> reject_weights{1};      // w_rej: with each one, too
  int64_t held_out_every = 8;                 // of so many chats one is held out
  DeviceName device;                          // that computes
  int threads = 0;
  uint64_t seed = 1;
  AcceptanceSettings training;
};

// slipstream-train acceptance: trains acceptance heads, and keeps the one that predicts best.
Result<RunEnd> train_acceptance(const AcceptanceOptions& options, std::stop_token stop);

}  // namespace slipstream::train
