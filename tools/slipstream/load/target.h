// The server that is loaded: its address, and the model that it serves.
#pragma once

#include <chrono>
#include <string>

#include "common/base/result.h"
#include "tools/slipstream/chat_client.h"

namespace slipstream::command::load {

// The server as the user names it.
struct TargetChoice {
  std::string url;
  std::string model;                  // "": the first of /v1/models
  std::string ca_file;                // https: certificates of the authorities that are trusted; "": the system's
  std::string api_key;                // "": none
  std::chrono::milliseconds timeout;  // longest silence of the server, and longest time of an answer
};

struct Target {
  ServerUrl url;
  ServedModel model;
  std::string ca_file, api_key;
  std::chrono::milliseconds timeout;

  bool slipstream() const { return model.owner == "slipstream"; }
  std::string words() const { return url.text() + ", model " + model.name; }
  Result<http::Client> client() const;  // with the API key
};

// Asks the server which models it has. Error: what is wrong with the address or the server, and
// what to do.
Result<Target> find_target(const TargetChoice& choice);

}  // namespace slipstream::command::load
