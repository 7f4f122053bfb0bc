// The subcommands of `slipstream`, as main.cpp calls them. Each is one function in the .cpp file of
// its name; verify-lossless has its own folder, verify/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/fleet.h"

namespace slipstream::command {

// slipstream serve: runs router, verifier and drafter on this machine until a signal stops them.
Result<void> serve(FleetOptions options, StopSignal& stop);

struct AskOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string ca_file;  // https: certificates of the authorities that are trusted; empty: the system's
  bool plain = false;   // print the answer only, without colours
  Question question;
};

// slipstream ask: asks a running server one question and prints the answer as it arrives.
Result<void> ask_command(const AskOptions& options);

struct DemoOptions {
  FleetOptions fleet;
  std::string ask;     // the user's own question; "": two built-in questions
  bool plain = false;  // without colours
};

// slipstream demo: starts the three processes, asks two questions with and without drafts, kills
// the drafter in the middle of an answer, and compares the answers. Returns false if an answer with
// drafts differs from the plain one.
Result<bool> demo(DemoOptions options, StopSignal& stop);

struct KeysOptions {
  std::filesystem::path folder;
  std::vector<std::string> names;  // empty: one key pair for each role
};

// slipstream keys new: makes the key pairs of a cluster, or of one more process of it, and prints
// the next steps. It makes nothing if one of the names exists already or if one of the files cannot
// be written.
Result<void> make_keys(const KeysOptions& options);

struct CorpusOptions {
  std::filesystem::path corpus;                 // to write
  std::filesystem::path model = kDefaultModel;  // that the server serves: its tokenizer is read
  std::string url = "http://127.0.0.1:8080";
  std::string api_key;                         // "": none
  std::filesystem::path prompts;               // to ask; empty: none, only answers that are there
  std::vector<std::filesystem::path> exclude;  // prompts that must not be asked, nor prompts like them
  std::filesystem::path answers;               // JSON lines; empty: beside the corpus
  int tokens_max = 256;                        // of an answer
  int streams = 8;                             // questions at once
};

// slipstream corpus: asks a running server, and makes a corpus of its answers
// (common/corpus/corpus.h). A run that was killed goes on where it was.
Result<void> make_corpus(const CorpusOptions& options);

}  // namespace slipstream::command
