// What a command says on its standard output while it keeps others alive. Whoever does not read it keeps nobody waiting: what
// cannot be said now is left out, and counted with what is said next. Thread-safe.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <string_view>

namespace slipstream::command {

class Voice {
 public:
  explicit Voice(int descriptor = STDOUT_FILENO) : descriptor_(descriptor) {}
  void say(std::string_view line);  // and a line's end; at most kLineBytesMax in all

 private:
  const int descriptor_;
  std::mutex mutex_;
  uint64_t unsaid_ = 0;  // lines since the last that was said
};

}  // namespace slipstream::command
