// Asks many questions at once, on several threads, and shows the progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "common/base/result.h"
#include "tools/slipstream/verify/servers.h"

namespace slipstream::command::verify {

// Shows the progress on a terminal, in one line that it overwrites. Shows nothing if stdout is no
// terminal. Thread-safe.
class Progress {
 public:
  Progress(std::string what, size_t total);
  ~Progress();  // erases the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step();

 private:
  const std::string what_;
  const size_t total_;
  const bool shown_;
  std::mutex mutex_;  // guards the members below
  size_t done_ = 0;
  std::chrono::steady_clock::time_point next_;
};

// The connections of one thread, one to each server.
struct ClientPair {
  http::Client reference, candidate;
};

// Runs questions on `streams` threads. Each thread keeps its own connections.
struct QuestionPool {
  const ServerPair& servers;
  int streams = 1;

  // Calls task(clients, i) once for each i < count, from several threads. After the first error no
  // further task begins, tasks that run are finished, and the error is returned.
  Result<void> run(size_t count, Progress& progress, const std::function<Result<void>(ClientPair&, size_t)>& task) const;
};

}  // namespace slipstream::command::verify
