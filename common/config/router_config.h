// The router's settings and their defaults. common/config/command_line.h says how a user sets them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/service_options.h"

namespace slipstream {

// Whose names of metrics the router's page has beside our own: the values of --metrics-compat.
inline constexpr std::string_view kNoCompat = "none", kVllmCompat = "vllm";

// `model`: its tokenizer, chat template and config are read.
struct RouterOptions : ServiceOptions {
  std::string http = "127.0.0.1:8080";        // where clients connect; port 0: any free one
  std::string api_key_file;                   // of the keys that clients may use; empty: no key is asked for
  std::string tls_cert;                       // file of the certificate for HTTPS; empty: HTTP in clear
  std::string tls_key;                        // file of its private key
  std::string bind = "tcp://127.0.0.1:7300";  // where workers connect; port 0 or *: any free one
  // The names that clients may use, the first as answers tell it; "*": any other, too. Empty: the
  // folder's or file's name.
  std::vector<std::string> model_name;
  uint32_t deadline_us = 3000;    // how long a verifier waits for a tree
  uint32_t nodes_max = 8;         // most nodes of one round's tree; 0: plain decoding
  double threshold = 1;           // h at first, and for good if nothing tunes it (speculation/stop_rule.h)
  std::string tune = "off";       // "on" or "off": h is tuned by what workers export
  std::string prometheus;         // whom to ask for that, http://host:port; empty: the workers themselves
  double trace_share = 1;         // of requests without a traceparent, if there is a collector
  uint32_t lease_ms = 10000;      // a verifier frees the sequences of a router that was silent this long
  uint32_t queue_wait_ms = 5000;  // a request that is expected to wait longer is refused; 0: none is
  uint32_t rebalance_ms = 1000;   // a verifier that had much less to do for this long gets live requests of others; 0: never
  uint32_t verifier_stuck_ms = 20'000;  // a verifier that has work but ends no step for this long is given up
  uint32_t drain_ms = 25'000;           // longest drain: time for the running answers to end
  std::string rules = "coupled,ratio,batch,block,traversal";  // acceptance rules that clients may choose
  std::string tenants = "by-key";  // of kTenantsNames: whose requests share prefix caches and look-up
  std::string trust;               // drafters that rules of the ratio family may believe: names of keys by commas, or "local"

  std::string metrics_compat{kNoCompat};  // or kVllmCompat
  bool ollama = false;                    // Ollama's API is there, too
  bool strict = false;                    // requests with fields that are not used are refused
  std::vector<std::string> cors_origin;   // of web pages that may call the API from their scripts; "*": any
  std::vector<std::string> allowed_host;  // names by which clients may call the router, beside localhost; "*": any
  // How requests are sampled that do not say so; nullopt: as the model's files say, else OpenAI's.
  std::optional<double> default_temperature, default_top_p, default_min_p, default_repetition_penalty;
  std::optional<uint32_t> default_top_k;

  std::vector<std::string> served_names() const;  // model_name, or the folder's or file's name
  std::vector<std::string> rule_list() const;
  std::vector<std::string> trust_list() const;
  // A sentence for each wrong setting; empty: all are right. Ranges of numbers are checked by
  // CommandLine, not here.
  std::vector<std::string> validate() const;
};

// Finds what is wrong with the files that the settings name, which this layer cannot read.
using RouterFileCheck = std::function<std::vector<std::string>(const RouterOptions&)>;

Parsed<RouterOptions> parse_router_options(int argc, const char* const* argv);
// What the router would find wrong with these arguments, or, if `form` is set, with the names and
// types of these alone. It looks at no environment.
std::vector<std::string> router_problems(const std::vector<std::string>& arguments, bool form);
std::vector<std::string> router_flag_names();  // of the router, without dashes
// The same, and the sentences of `check` are problems too, if there are no others.
Parsed<RouterOptions> parse_router_options(int argc, const char* const* argv, const RouterFileCheck& check);

}  // namespace slipstream
