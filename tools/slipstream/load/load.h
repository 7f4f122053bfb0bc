// slipstream load: sends requests to a running server, as many users would, and reports how fast
// and how surely it answers (docs/use/LOAD.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/stop_signal.h"
#include "tools/slipstream/load/request_mix.h"

namespace slipstream::command::load {

inline constexpr double kDefaultSeconds = 30;         // of a run that has no other end
inline constexpr int kDefaultStreams = 8;             // of a run that has neither --streams nor --rate nor --trace
inline constexpr double kSecondsMax = 7 * 24 * 3600;  // of a run
inline constexpr int kRequestsMax = 100'000'000;      // of a run
inline constexpr size_t kRunsMax = 32;                // of a sweep
inline constexpr double kSpeedMin = 0.001, kSpeedMax = 1000;

struct LoadOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string against;               // another server, side by side; "": none
  std::string model, against_model;  // "": the first of /v1/models
  std::string ca_file, api_key;

  std::vector<int> streams;          // closed loop, a run for each
  std::vector<double> rates;         // open loop, a run for each, in requests a second
  std::string arrivals = "poisson";  // or "even" or "bursts"
  int burst = 10;                    // requests of a burst
  std::filesystem::path trace;       // open loop, one run; empty: none
  double speed = 1;                  // of the trace
  int in_flight = 512;               // open loop: requests at once, at most
  int requests = 0;                  // of a run; 0: no limit
  std::optional<double> seconds;     // of a run

  std::filesystem::path prompts;      // empty: built-in ones
  std::filesystem::path system_file;  // a system prompt before each question; empty: none
  int shared_prefix = 0;              // words of one that is made up; 0: none
  int max_tokens = 128;
  double temperature = 0;
  uint64_t seed = 1;
  std::string fields;     // more fields of each request, as a JSON object; "": none
  bool standard = false;  // ask a Slipstream as any other server: without token ids

  std::optional<double> slo_ttft_ms, slo_tpot_ms;
  double timeout_s = 300;
  int pairs = 6;                     // of windows, with `against`
  std::filesystem::path json, html;  // empty: none
  std::filesystem::path each;        // gets a line for each request; empty: none
};

// Prints progress and a table, and writes the reports. A stop ends the run, which is reported as
// far as it went. Error: flags that contradict each other, a file that cannot be read or written, a
// server that does not answer, or not one whole answer.
Result<void> run_load(const LoadOptions& options, StopSignal& stop);

}  // namespace slipstream::command::load
