// The two servers that are compared: where each is, which model it serves, and how it is asked.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/verify/request_flags.h"

namespace slipstream::command::verify {

// What differs from question to question.
struct Query {
  std::string prompt;
  int64_t seed = 0;
  float temperature = 0;
  int tokens_max = 0;
};

struct ServerUnderTest {
  ServerUrl url;
  ServedModel model;
  Question defaults;      // what all its questions have in common
  bool ids = false;       // it gives token ids
  bool logprobs = false;  // where one of the two gives none: it gives the text of each token when asked for logprobs

  bool slipstream() const { return !defaults.standard; }
  std::string words() const;  // "http://127.0.0.1:8080, model tiny-llama, speculation on"
};

struct ServerPair {
  ServerUnderTest reference, candidate;
  bool give_ids() const { return reference.ids && candidate.ids; }
};

// A server as the user names it, and which model there; empty: the first that it names.
struct ServerChoice {
  std::string url, model;
};

// Asks a server which model it serves. A server that is no Slipstream gets standard fields only.
// Error: nobody answers there, or it has no such API.
Result<ServerUnderTest> probe(const ServerChoice& choice);
// Probes two servers. Each Slipstream is asked for one token to see whether its id comes, since a
// gateway before it may take ids away. Where an id is missing, or one server is no Slipstream, each
// is asked for one token to see whether it gives logprobs.
Result<ServerPair> probe_two(const ServerChoice& reference, const ServerChoice& candidate);
// Probes one Slipstream likewise. The reference is asked with speculation off, the candidate with
// speculation as `wanted`.
Result<ServerPair> probe_switched(const ServerChoice& choice, const SpeculationFlags& wanted);

http::Client connect(const ServerUnderTest& server);
// Error: whose answer failed, and why.
Result<Answer> ask(http::Client& client, const ServerUnderTest& server, const Query& query, bool logprobs = false);

}  // namespace slipstream::command::verify
