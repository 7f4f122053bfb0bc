// The progress of loading a model, and how long it took: for the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace slipstream {

// A load first reads and hashes every byte of the weights, which takes long if the file comes from
// the disk. Then it packs the matrices for the device.
enum class LoadPart : uint8_t { read, pack };

struct LoadProgress {
  LoadPart part = LoadPart::read;
  uint64_t bytes = 0, all = 0;  // bytes of the stored weights: done so far, and in all
};
using OnLoad = std::function<void(const LoadProgress&)>;  // called after each piece, on the loading thread

struct LoadReport {
  uint64_t bytes = 0;  // of the stored weights
  double read_seconds = 0;
  double pack_seconds = 0;   // including tables, and address space for cache and buffers
  double trial_seconds = 0;  // of the timed trial steps (services/verifier/calibrate.h); 0: there were none, as in a drafter

  std::string summary() const;  // "read 269 MB in 0.04 s, packed them in 0.11 s, timed steps for 0.31 s"
};

// Makes the log lines of a load: one a second, so a short load has none.
class LoadLines {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit LoadLines(Time began) : said_(began) {}
  std::optional<std::string> due(const LoadProgress& progress, Time now);  // "packed 512 of 2472 MB", or nothing yet

 private:
  Time said_;
};

// Writes these lines to the log, for a load that begins now.
OnLoad log_load();

}  // namespace slipstream
