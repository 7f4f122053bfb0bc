// A file with a line of JSON for each request, written as the request ends (docs/use/LOAD.md). Not
// thread-safe.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "common/base/result.h"
#include "tools/slipstream/load/sample.h"

namespace slipstream::command::load {

// One line, without its end. now: the wall clock's time at which the request ended.
std::string request_line(const std::string& run, const Sample& sample, std::chrono::system_clock::time_point now);

class RequestLog {
 public:
  // file: replaced if it exists; empty: there is no log, and add() does nothing.
  static Result<RequestLog> open(std::filesystem::path file);

  // REQUIRES: the request has just ended.
  void add(const std::string& run, const Sample& sample);
  Result<void> close();  // Error: not all lines could be written

 private:
  explicit RequestLog(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::ofstream stream_;
};

}  // namespace slipstream::command::load
