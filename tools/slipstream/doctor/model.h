// Checks of a model's files, by the readers that the services themselves use.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "common/checkpoint/llama_config.h"
#include "tools/slipstream/doctor/finding.h"
#include "tools/slipstream/fleet_plan.h"

namespace slipstream::command::doctor {

// What the other checks need to know of a model that can be read.
struct ModelFacts {
  std::filesystem::path path;
  LlamaConfig config;
  uint64_t weights = 0, tokenizer = 0;  // their hashes
  double bytes_as_stored = 0;           // of all tensors
};

// Adds what it finds. It reads all weights once, to hash them: that takes as long as the disk
// takes. nullopt: the model cannot be used at all.
std::optional<ModelFacts> check_model(const std::filesystem::path& model, Findings& findings);

// The draft model, the draft head and the corpora that the options name, against the target.
void check_drafting_files(const FleetOptions& options, const ModelFacts& target, Findings& findings);

// The file of look-up's answers, against the target. ours: a running server was looked at that is
// this one, so that its own process may have the file. REQUIRES: one is named, and something looks
// up.
Finding check_answers(const FleetOptions& options, const ModelFacts& target, bool ours);

// How many tokens the cache has room for, beside those of the model's draft head, and whether the
// longest context fits.
Finding check_cache(const FleetOptions& options, const ModelFacts& model);

// Bytes that weights and cache take in the device's memory, about, those of a drafter with a model
// included.
double memory_need(const FleetOptions& options, const ModelFacts& target);
// A value of --weights that takes less on that device; "": it is the smallest, or all take as much.
std::string_view fewer_bits(const FleetOptions& options);

}  // namespace slipstream::command::doctor
