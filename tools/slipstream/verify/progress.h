// How far it is, on a terminal: one line that is written over. Nothing where stdout is none. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace slipstream::command::verify {

class Progress {
 public:
  Progress(std::string what, size_t total);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step();

 private:
  const std::string what_;
  const size_t total_;
  const bool shown_;
  std::mutex mutex_;  // guards what follows
  size_t done_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace slipstream::command::verify
