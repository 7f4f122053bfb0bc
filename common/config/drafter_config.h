// The drafter's settings: flags > environment (SLIPSTREAM_<FLAG>) > file (--config) > these defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/parsed.h"

namespace slipstream {

struct DrafterOptions {
  std::string method = "ngram";
  std::string model = kDefaultModel;  // the target's folder or GGUF file: tokenizer fingerprint and vocabulary
  std::string draft_model;            // small-lm: its folder or GGUF file; empty: the target drafts for itself
  uint32_t threads = 0;               // small-lm: of the model; 0: what the CPU quota allows
  std::string path = "auto";          // small-lm: instruction path, as the verifier's
  std::string weights = "file";       // small-lm: format of matrices, as the verifier's
  uint32_t cache_tokens = 16384;      // small-lm: rows of its KV cache, shared by all sequences
  uint32_t siblings = 4;              // small-lm: candidates a node of a tree; 1: chains
  std::vector<std::string> router{"tcp://127.0.0.1:7300"};  // every router to offer itself to
  std::string bind = "tcp://127.0.0.1:0";                   // verifiers; port 0 or *: any free one
  std::string advertise;                                    // where verifiers are told to connect; empty: where it is bound
  std::string metrics = "127.0.0.1:0";                      // /metrics, /health, /ready
  std::string key;                                          // file of this process's key pair; empty: no keys, loopback only
  std::string peers;                                        // folder of the public keys that are enrolled
  std::string log_level = "info";
  std::string port_file;  // JSON with the bound ports, once ready; empty: none

  uint32_t threads_or_quota() const;          // threads, 0 resolved
  std::vector<std::string> validate() const;  // every problem, a sentence each; empty: fine
};

Parsed<DrafterOptions> parse_drafter_options(int argc, const char* const* argv);

}  // namespace slipstream
