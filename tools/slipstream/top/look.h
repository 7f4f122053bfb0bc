// What one look at a running fleet found: the pages of its router and of its workers. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/metrics/scrape.h"

namespace slipstream::command::top {

struct WorkerLook {
  std::string role;         // "verifier" or "drafter"
  std::string incarnation;  // in hexadecimal: names this process and no other
  std::string state;        // "ready", "leaving", "silent", "stuck", "resting", "drained"
  std::string what;         // a verifier's arithmetic, a drafter's method and model
  std::string metrics;      // the address of its own page
  int64_t pid = 0, sequences = 0;
  double busy = 0;  // 0 .. 1
  std::optional<double> greedy_gain, coupled_gain;
  std::optional<Scrape> page;  // nullopt: it cannot be read from here
};

// Where a kind of drafter stops, and why.
struct SettingLook {
  std::string method, model;
  double threshold = 1;
  int64_t depth_max = 0;
  std::string why;                           // a sentence of the router
  double verify_price = 0, draft_price = 0;  // tokens that a node must gain for its row, for its drafting
};

struct TuningLook {
  double first_threshold = 1;
  std::vector<SettingLook> kinds;  // empty: tuning is off, or nothing was read yet
};

struct FleetLook {
  double at_s = 0;  // of a clock that does not jump back
  std::string url, model;
  std::string trouble;               // why the router cannot be read; "": it can
  std::optional<Scrape> router;      // nullopt with `trouble`
  std::vector<WorkerLook> workers;   // in the order of the router
  std::optional<TuningLook> tuning;  // nullopt: this router does not say
};

}  // namespace slipstream::command::top
