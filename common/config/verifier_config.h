// The verifier's settings: flags > environment (SLIPSTREAM_<FLAG>) > file (--config) > these defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/parsed.h"

namespace slipstream {

struct VerifierOptions {
  std::string model = kDefaultModel;                        // folder or GGUF file: weights, config, tokenizer
  std::vector<std::string> router{"tcp://127.0.0.1:7300"};  // every router to offer itself to
  uint32_t threads = 0;                                     // of the model; 0: what the CPU quota allows (cpu_quota.h)
  std::string path = "auto";                                // instruction path (path_choices())
  std::string weights = "file";                             // format of matrices (weights_choices())
  uint32_t cache_tokens = 16384;                            // rows of the KV cache, shared by all sequences
  uint32_t context_max = 0;             // tokens of one sequence, prompt and output together; 0: the model's own
  uint32_t wait_percent = 5;            // of the time computed, that steps may wait for drafts beside what drafts saved
  uint32_t drawn_wait_us = 1'000'000;   // that a sequence of the ratio family waits for its tree
  uint32_t step_cost_us = 0;            // that every step is taken to cost; 0: measured
  std::string metrics = "127.0.0.1:0";  // /metrics, /health, /ready
  uint32_t drain_ms = 25'000;           // when told to stop, for sequences that no other verifier takes over
  std::string key;                      // file of this process's key pair; empty: no keys, loopback only
  std::string peers;                    // folder of the public keys that are enrolled
  std::string log_level = "info";
  std::string port_file;  // JSON with the bound ports, once ready; empty: none

  uint32_t threads_or_quota() const;          // threads, 0 resolved
  std::vector<std::string> validate() const;  // every problem, a sentence each; empty: fine
};

Parsed<VerifierOptions> parse_verifier_options(int argc, const char* const* argv);

}  // namespace slipstream
