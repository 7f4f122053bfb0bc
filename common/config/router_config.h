// The router's settings: flags > environment (SLIPSTREAM_<FLAG>) > file (--config) > these
// defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/service_options.h"

namespace slipstream {

struct RouterOptions : ServiceOptions {       // model: tokenizer, chat template and config are read
  std::string http = "127.0.0.1:8080";        // clients; port 0: any free one
  std::string bind = "tcp://127.0.0.1:7300";  // workers; port 0 or *: any free one
  std::string model_name;                     // as clients name it; empty: the folder's or file's name
  uint32_t deadline_us = 3000;                // how long a verifier waits for a tree
  uint32_t nodes_max = 8;                     // drafted nodes a round
  uint32_t lease_ms = 10000;                  // a verifier frees the sequences of a router it has not heard for so long
  uint32_t rebalance_ms = 1000;         // a verifier with much less to do for so long gets others' live requests; 0: never
  uint32_t verifier_stuck_ms = 20'000;  // one that has work and ends no step for so long is given up
  uint32_t drain_ms = 25'000;           // when told to stop, for the answers under way
  std::string rules = "coupled,ratio,batch,block,traversal";  // acceptance rules that clients may choose
  std::string trust;  // drafters whose probabilities are believed: names of keys, or "local"

  std::string served_name() const;  // model_name, or the folder's or file's name
  std::vector<std::string> rule_list() const;
  std::vector<std::string> trust_list() const;
  // Every problem but those of numbers (CommandLine), a sentence each; empty: fine.
  std::vector<std::string> validate() const;
};

Parsed<RouterOptions> parse_router_options(int argc, const char* const* argv);

}  // namespace slipstream
