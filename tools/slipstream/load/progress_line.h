// Shows on stderr how far a run is: one line that is redrawn on a terminal, a line every few
// seconds elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "tools/slipstream/load/session.h"

namespace slipstream::command::load {

inline constexpr std::chrono::seconds kPipeInterval{5};

// "8 streams  12.4 s  96 done  2 failed  8 in flight  412 tokens/s". before: the look before this
// one, for the speed now. Pure.
std::string progress_text(const std::string& run, const Progress& now, const Progress& before);

class ProgressLine {
 public:
  explicit ProgressLine(std::string run);  // its name
  ~ProgressLine();                         // erases the line of a terminal
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const Progress& progress);

 private:
  const std::string run_;
  const bool redrawn_;
  Progress shown_, older_;
};

}  // namespace slipstream::command::load
