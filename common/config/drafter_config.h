// The drafter's settings: flags > environment (SLIPSTREAM_<FLAG>) > file (--config) > these defaults.
#pragma once

#include <string>
#include <vector>

#include "common/config/parsed.h"

namespace slipstream {

struct DrafterOptions {
  std::string method = "ngram";
  std::string model = "models/smollm2-135m-instruct";       // folder: tokenizer fingerprint and vocabulary
  std::vector<std::string> router{"tcp://127.0.0.1:7300"};  // every router to offer itself to
  std::string bind = "tcp://127.0.0.1:0";                   // verifiers; port 0 or *: any free one
  std::string metrics = "127.0.0.1:0";                      // /metrics, /health, /ready
  std::string key;                                          // file of this process's key pair; empty: no keys, loopback only
  std::string peers;                                        // folder of the public keys that are enrolled
  std::string log_level = "info";
  std::string port_file;  // JSON with the bound ports, once ready; empty: none

  std::vector<std::string> validate() const;  // every problem, a sentence each; empty: fine
};

Parsed<DrafterOptions> parse_drafter_options(int argc, const char* const* argv);

}  // namespace slipstream
