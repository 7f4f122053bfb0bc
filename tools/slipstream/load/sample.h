// What was measured of one request.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/slipstream/load/schedule.h"

namespace slipstream::command::load {

// How a request ended. Each request of a run has exactly one ending.
enum class Ending {
  complete,       // a whole answer
  refused_429,    // too many requests
  refused_503,    // the server cannot take it now
  other_status,   // any other status than 200
  no_connection,  // nobody listens, or the connection broke before the answer began
  broke_off,      // the answer began, and did not end as one does
  no_answer,      // status 200, but no stream of an OpenAI-style server
  server_error,   // the stream brought an error of the server
  timed_out,      // no end within the time limit
  endless,        // more chunks than the answer may have
  cut,            // the run was ended (Ctrl-C) before the answer was
};
inline constexpr size_t kEndings = 11;
const char* words(Ending ending);  // "refused (429)", for tables
const char* key(Ending ending);    // "refused_429", for JSON

// A part of an answer that brought tokens.
struct Chunk {
  Offset at{};     // when it arrived, since the run began
  int tokens = 1;  // as far as the server says
};

struct Sample {
  Ending ending = Ending::cut;
  int status = 0;            // of HTTP; 0: none came
  bool retry_after = false;  // a refusal said when to come back
  Offset come_back{};        // ... after so long; 0: it did not, or by a date
  std::string problem;       // a sentence, if it is not complete

  // Since the run began: when it should have been sent, was sent, and ended.
  Offset scheduled{}, sent{}, ended{};
  std::vector<Chunk> chunks;
  bool chunk_tokens_known = false;  // the server says how many tokens each chunk has

  // As the server counts; nullopt: it does not say.
  std::optional<int> tokens_in, tokens_out, tokens_cached;

  int output_tokens() const;  // as the server counts, else as its chunks have, each at least one
};

}  // namespace slipstream::command::load
