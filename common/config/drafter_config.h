// The drafter's settings: flags > environment (SLIPSTREAM_<FLAG>) > file (--config) > these
// defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/service_options.h"

namespace slipstream {

struct DrafterOptions : WorkerOptions {  // model: the target's, of which the tokenizer's fingerprint and vocabulary are read
  std::string method = "ngram";
  std::string draft_model;                 // small-lm: its folder or GGUF file; empty: the target drafts for itself
  uint32_t siblings = 4;                   // small-lm: candidates a node of a tree; 1: chains
  std::string bind = "tcp://127.0.0.1:0";  // verifiers; port 0 or *: any free one
  std::string advertise;                   // where verifiers are told to connect; empty: where it is bound

  // Every problem but those of numbers (CommandLine), a sentence each; empty: fine.
  std::vector<std::string> validate() const;
};

Parsed<DrafterOptions> parse_drafter_options(int argc, const char* const* argv);

}  // namespace slipstream
