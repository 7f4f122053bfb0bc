// The line that tells how far a training is: on a terminal one that changes in place, elsewhere a
// new one each half minute.
//
//   step 120 of 1000  loss 3.214  5130 tokens/s  4 min left
//
// A training that ends after a time says no "of 1000".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace slipstream::train {

struct Progress {
  int64_t step = 0, steps = 0;  // steps 0: it ends after a time
  double loss = 0;              // of the last step
  double tokens_per_s = 0;      // of the last steps
  std::chrono::seconds left{};  // at that speed, or of the time
};
std::string progress_text(const Progress& progress);

class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  // done: the steps that were done before; steps: of the whole training.
  ProgressLine(int64_t steps, int64_t tokens_of_a_step, int64_t done);
  // Of a training that ends then.
  ProgressLine(Clock::time_point ends, int64_t tokens_of_a_step, int64_t done);
  ~ProgressLine();  // ends the line that changes in place
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Of the last step that is done: not every step need be told.
  void step(int64_t step, double loss, Clock::time_point now);
  bool due(Clock::time_point now) const;  // a step would be shown now
  void say(const std::string& sentence);  // a line of its own

 private:
  const int64_t steps_, tokens_of_a_step_;  // steps_ 0: it ends after a time
  const Clock::time_point ends_;
  const bool terminal_;
  int64_t last_step_;
  Clock::time_point last_time_, shown_{};
  double step_seconds_ = 0;  // running average; 0: no step was timed yet
};

// The same for work that is counted in pieces of any size:
//
//   81920 of 600000 tokens  2210 tokens/s  4 min left
std::string rate_text(int64_t done, int64_t all, const std::string& unit, double per_s);

class RateLine {
 public:
  using Clock = std::chrono::steady_clock;
  RateLine(int64_t all, std::string unit);
  ~RateLine();
  RateLine(const RateLine&) = delete;
  RateLine& operator=(const RateLine&) = delete;

  void add(int64_t count, Clock::time_point now);
  void skip(int64_t count) { done_ += count; }  // of what was done before: it does not count for the speed

 private:
  const int64_t all_;
  const std::string unit_;
  const bool terminal_;
  const Clock::time_point began_;
  Clock::time_point shown_{};
  int64_t done_ = 0, added_ = 0;
};

}  // namespace slipstream::train
