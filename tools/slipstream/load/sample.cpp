#include "tools/slipstream/load/sample.h"

#include <array>
#include <utility>

namespace slipstream::command::load {
namespace {

struct Name {
  const char *words, *key;
};
constexpr std::array<Name, kEndings> kNames{{
    {"complete", "complete"},
    {"refused (429)", "refused_429"},
    {"refused (503)", "refused_503"},
    {"other status", "other_status"},
    {"no connection", "no_connection"},
    {"broke off", "broke_off"},
    {"no stream", "no_answer"},
    {"error in the stream", "server_error"},
    {"timed out", "timed_out"},
    {"endless", "endless"},
    {"cut by the end of the run", "cut"},
}};

}  // namespace

const char* words(Ending ending) { return kNames[static_cast<size_t>(ending)].words; }
const char* key(Ending ending) { return kNames[static_cast<size_t>(ending)].key; }

int Sample::output_tokens() const {
  if (tokens_out) return *tokens_out;
  int tokens = 0;
  for (const Chunk& chunk : chunks) tokens += chunk.tokens;
  return tokens;
}

}  // namespace slipstream::command::load
