// The two servers that are compared: their addresses, the models that they serve, and how they are
// asked.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/verify/request_flags.h"

namespace slipstream::command::verify {

// The part of a question that differs from question to question.
struct Query {
  std::string prompt;
  int64_t seed = 0;
  float temperature = 0;
  int tokens_max = 0;
};

struct ServerUnderTest {
  ServerUrl url;
  ServedModel model;
  Question defaults;  // fields that all its questions share
  bool ids = false;   // it sends token ids
  // It sends the text of each token when asked for logprobs. Known only if one of the two servers
  // sends no ids.
  bool logprobs = false;

  bool slipstream() const { return !defaults.standard; }
  std::string words() const;  // "http://127.0.0.1:8080, model tiny-llama, speculation on"
};

struct ServerPair {
  ServerUnderTest reference, candidate;
  bool give_ids() const { return reference.ids && candidate.ids; }
};

// A server as the user names it, and the model to ask for; an empty model means the first that the
// server lists.
struct ServerChoice {
  std::string url, model;
  std::string api_key = {};  // "": none
};

// Asks a server which model it serves. A server that is not Slipstream gets standard fields only.
// Error: nothing listens there, or it has no such API.
Result<ServerUnderTest> probe(const ServerChoice& choice);
// Probes two servers. Each Slipstream server is asked for one token to see whether its id arrives,
// since a gateway before it may remove ids. If an id is missing, or one server is not Slipstream,
// each is asked for one token to see whether it sends logprobs.
Result<ServerPair> probe_two(const ServerChoice& reference, const ServerChoice& candidate);
// Probes one Slipstream server in the same way. The reference is asked with speculation off, the
// candidate with speculation as in `wanted`.
Result<ServerPair> probe_switched(const ServerChoice& choice, const SpeculationFlags& wanted);

http::Client connect(const ServerUnderTest& server);
// Error: which server failed to answer, and why.
Result<Answer> ask(http::Client& client, const ServerUnderTest& server, const Query& query, bool logprobs = false);

}  // namespace slipstream::command::verify
