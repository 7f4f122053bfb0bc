// The settings that several services have: members, flags, defaults and checks, each said once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/settings.h"

namespace slipstream {

class CommandLine;
class Problems;

// Every service has these. Each declares --model itself, for each reads another part of the model's
// files.
struct ServiceOptions {
  std::string model = kDefaultModel;  // a Hugging Face folder or a GGUF file
  std::string key;                    // file of this process's key pair; empty: no keys, loopback only
  std::string peers;                  // folder of the public keys that are enrolled
  std::string log_level = "info";
  std::string port_file;  // JSON with the bound ports, once ready; empty: none

  bool keyed() const { return !key.empty(); }
  void declare(CommandLine& line);  // --key, --peers, --log-level, --port-file
  void check(Problems& problems) const;
};

// Verifiers and drafters have these as well.
struct WorkerOptions : ServiceOptions {
  std::vector<std::string> router{"tcp://127.0.0.1:7300"};  // every router to offer itself to
  uint32_t threads = 0;                                     // of the model; 0: what the CPU quota allows (cpu_quota.h)
  std::string path = "auto";                                // instruction path (path_choices())
  std::string weights = "file";                             // format of matrices (weights_choices())
  uint32_t cache_tokens = 16384;                            // rows of the KV cache, shared by all sequences
  std::string metrics = "127.0.0.1:0";                      // /metrics, /health, /ready

  uint32_t threads_or_quota() const;  // threads, 0 resolved
  // scope: which of its methods have a model, to begin the help of the model's flags with
  // ("small-lm: "); "": it always has.
  void declare(CommandLine& line, std::string_view scope = "");
  void check(Problems& problems) const;
};

}  // namespace slipstream
