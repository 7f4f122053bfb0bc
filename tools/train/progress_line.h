// The line that tells how far a training is: on a terminal one that changes in place, elsewhere a
// new one each half minute.
//
//   step 120 of 1000  loss 3.214  5130 tokens/s  4 min left
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace slipstream::train {

struct Progress {
  int64_t step = 0, steps = 0;
  double loss = 0;              // of the last step
  double tokens_per_s = 0;      // of the last steps
  std::chrono::seconds left{};  // at that speed
};
std::string progress_text(const Progress& progress);

class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  ProgressLine(int64_t steps, int64_t tokens_of_a_step);
  ~ProgressLine();  // ends the line that changes in place
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void step(int64_t step, double loss, Clock::time_point now);
  void say(const std::string& sentence);  // a line of its own

 private:
  const int64_t steps_, tokens_of_a_step_;
  const bool terminal_;
  Clock::time_point last_step_, shown_{};
  double step_seconds_ = 0;  // running average; 0: no step was timed yet
};

}  // namespace slipstream::train
