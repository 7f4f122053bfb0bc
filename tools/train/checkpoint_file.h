// The file from which a training goes on: weights, the optimiser's moments, steps done, and all
// that decides which weights come out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "common/base/result.h"
#include "tools/train/adamw.h"
#include "tools/train/weights.h"

namespace slipstream::train {

// Names and values of all that decides which weights come out, for a checkpoint to be compared by.
using Conditions = std::map<std::string, std::string>;

// Conditions that decide no more than rounding. A GPU promises no bits: a training that was begun
// on one, or goes on on one, may change them.
inline constexpr const char *kDeviceCondition = "--device", *kThreadsCondition = "--threads";
inline constexpr const char* kInstructionsCondition = "the CPU's instructions";
inline constexpr const char* kMicroBatchCondition = "--micro-batch";

struct TrainingState {
  const Weights& weights;
  const AdamW& optimizer;
  int64_t steps_done = 0;
  double seconds = 0;  // that they took
};

// safetensors_writer.h says what an error leaves.
Result<void> write_checkpoint(const std::filesystem::path& path, const TrainingState& state, const Conditions& conditions);

struct Expected {
  int64_t steps_max = 0;  // of the whole training
  const Conditions& conditions;
};

struct Done {
  int64_t steps = 0;
  double seconds = 0;
};

// Reads weights and moments into the tensors that are there, on whatever device they are. An error
// if the file is none, or was written under other conditions, which it names; nothing was changed
// then.
Result<Done> read_checkpoint(const std::filesystem::path& path, const Weights& weights, AdamW& optimizer,
                             const Expected& expected);

}  // namespace slipstream::train
