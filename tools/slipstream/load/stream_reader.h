// Reads the events of one streamed answer into a Sample, with the times at which they arrived.
// Pure: the time is told. Not thread-safe.
//
// A chunk counts if it brings text (content, reasoning, a tool call) or token ids. The first event
// of many servers has a role and no text; it starts no answer.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "tools/slipstream/load/sample.h"

namespace slipstream::command::load {

class StreamReader {
 public:
  // chunks_max: an answer with more is endless.
  StreamReader(Sample& sample, size_t chunks_max);
  ~StreamReader();
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  // Takes the data of one event. False: the answer is over for us, and the sample says why.
  bool event(std::string_view data, Offset now);
  // The stream has ended. Decides whether the answer is complete.
  void end();
  // Tokens of the newest event.
  int fresh_tokens() const { return fresh_tokens_; }
  bool begun() const { return any_; }        // an event has come
  bool gave_up() const { return gave_up_; }  // event() has returned false

 private:
  struct Parser;
  bool give_up(Ending ending, std::string problem);

  Sample& sample_;
  const size_t chunks_max_;
  std::unique_ptr<Parser> parser_;
  int fresh_tokens_ = 0;
  bool any_ = false, finished_ = false, gave_up_ = false;
};

}  // namespace slipstream::command::load
