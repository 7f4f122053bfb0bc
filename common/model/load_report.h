// What a load tells while it goes on, and what it took: people look before they read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace slipstream {

// First every byte of the weights is read and hashed: a file that is not in memory yet comes from
// the disk there. Then matrices are packed for the device.
enum class LoadPart : uint8_t { read, pack };

struct LoadProgress {
  LoadPart part = LoadPart::read;
  uint64_t bytes = 0, all = 0;  // of the weights as they are stored: done so far, and altogether
};
using OnLoad = std::function<void(const LoadProgress&)>;  // after each piece, on the loading thread

struct LoadReport {
  uint64_t bytes = 0;  // of the weights as they are stored
  double read_seconds = 0;
  double pack_seconds = 0;   // with tables and address space for cache and buffers
  double trial_seconds = 0;  // of steps that a verifier timed before its first (calibrate.h); a drafter times none

  std::string words() const;  // "read 269 MB in 0.04 s, packed them in 0.11 s, timed steps for 0.31 s"
};

// The lines of a load that takes long: one a second, none where it is done sooner.
class LoadLines {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit LoadLines(Time began) : said_(began) {}
  std::optional<std::string> due(const LoadProgress& progress, Time now);  // "packed 512 of 2472 MB"

 private:
  Time said_;
};

// Has the log say so of the load that begins now.
OnLoad log_load();

}  // namespace slipstream
