// One of the two that are compared: where it is and how it is asked.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "tools/slipstream/answer.h"
#include "tools/slipstream/server_url.h"
#include "tools/slipstream/verify/request_flags.h"

namespace slipstream::command::verify {

struct Asking {
  std::string prompt;
  int64_t seed = 0;
  float temperature = 0;
  int tokens_max = 0;
};

struct Side {
  ServerUrl url;
  ServedModel model;
  Question habit;         // what all its questions have in common
  bool ids = false;       // it gives token ids
  bool logprobs = false;  // where one of the two gives none: it gives the text of each token when asked for logprobs

  bool slipstream() const { return !habit.standard; }
  std::string words() const;  // "http://127.0.0.1:8080, model tiny-llama, speculation on"
};

struct Sides {
  Side reference, candidate;
  bool give_ids() const { return reference.ids && candidate.ids; }
};

// Who is to be met, and which model there; empty: the first that it names.
struct Invitation {
  std::string url, model;
};

// Asks what is served there. A server that is no Slipstream gets standard fields only. Error: nobody there, or no such API.
Result<Side> meet(const Invitation& invitation);
// Two servers. Each Slipstream is asked for one token to see whether its id comes, since who stands before it may have taken
// that away; where it does not, or one is no Slipstream, each is asked for one to see whether it gives logprobs.
Result<Sides> meet_two(const Invitation& reference, const Invitation& candidate);
// One Slipstream with speculation off and, as is wanted, on; asked first likewise.
Result<Sides> meet_switched(const Invitation& invitation, const SpeculationFlags& wanted);

http::Client connect(const Side& side);
// Error: whose answer failed, and why.
Result<Answer> ask(http::Client& client, const Side& side, const Asking& asking, bool logprobs = false);

}  // namespace slipstream::command::verify
