// The subcommands of slipstream, as main.cpp calls them: one function each, in a file of its name.
// verify-lossless has a folder of its own (verify/).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/fleet.h"

namespace slipstream::command {

// slipstream serve: router, verifier and drafter on this machine until a signal ends them.
Result<void> serve(FleetOptions options, StopSignal& stop);

struct AskOptions {
  std::string url = "http://127.0.0.1:8080";
  bool plain = false;  // no colours, only the answer
  Question question;
};

// slipstream ask: one question to a running server. The answer is printed as it comes.
Result<void> ask_command(const AskOptions& options);

struct DemoOptions {
  FleetOptions fleet;
  std::string ask;     // the user's own question; empty: two of ours
  bool plain = false;  // no colours
};

// slipstream demo: starts the three processes, asks two questions with and without drafts, kills
// the drafter in the middle of an answer, and compares the words. Returns false if the words with
// drafts differ from the plain ones.
Result<bool> demo(DemoOptions options, StopSignal& stop);

struct KeysOptions {
  std::filesystem::path folder;
  std::vector<std::string> names;  // empty: one for each role
};

// slipstream keys new: makes the key pairs of a cluster, or of one more process of it, and prints
// what to do with them. It makes nothing if one of the names exists already, or if one of the files
// cannot be written.
Result<void> make_keys(const KeysOptions& options);

}  // namespace slipstream::command
