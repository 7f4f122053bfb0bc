// The drafter's settings and their defaults. common/config/command_line.h says how a user sets
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/names.h"
#include "common/config/look_up_options.h"
#include "common/config/service_options.h"

namespace slipstream {

// `model` is the target: the fingerprint of its tokenizer and its vocabulary are read.
struct DrafterOptions : WorkerOptions {
  std::string method = "ngram";  // draft method (kMethodNames)
  std::string draft_model;       // a method's with a model: its folder or GGUF file; empty: the target drafts for itself
  std::string head;       // draft-head: folder of the target's draft head; empty: the one beside the target, if it is there
  uint32_t siblings = 4;  // a method's with a network: children a node; 1: chains
  LookUpOptions look_up;  // ngram
  std::string bind = "tcp://127.0.0.1:0";  // where verifiers connect; port 0 or *: any free one
  std::string advertise;                   // the endpoint that verifiers are told; empty: the bound one

  // A sentence for each wrong setting; empty: all are right. Ranges of numbers are checked by
  // CommandLine, not here.
  std::vector<std::string> validate() const;
};

Parsed<DrafterOptions> parse_drafter_options(int argc, const char* const* argv);
// What the drafter would find wrong with these arguments, or, if `form` is set, with the names and
// types of these alone. It looks at no environment.
std::vector<std::string> drafter_problems(const std::vector<std::string>& arguments, bool form);
std::vector<std::string> drafter_flag_names();  // of the drafter, without dashes

}  // namespace slipstream
