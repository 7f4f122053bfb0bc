// What a run of `slipstream load` found, as tables and sentences for a terminal and as a page.
// report_json.h has the same for programs. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/slipstream/document.h"
#include "tools/slipstream/load/comparison.h"
#include "tools/slipstream/load/tally.h"

namespace slipstream::command::load {

// One run: of a sweep, or of one of two servers.
struct Point {
  std::string name;  // "8 streams", "5 requests/s", or the server
  Tally tally;
  double generator_cores = 0;  // CPUs that the generator itself used, on average
  double offered = 0;          // of a sweep: streams, or requests a second
};

struct LoadReport {
  std::string server, asked, how, made;  // in words
  std::vector<Point> points;
  std::vector<NamedRatio> ratios;  // with two points: of the first to the second
  bool stopped = false;            // by a signal, before its end
  std::string offered_unit;        // of a sweep: "streams" or "requests/s"
};

Table latency_table(const Tally& tally);  // milliseconds: mean, p50, p90, p95, p99, max
Table count_table(const Tally& tally);    // requests by how they ended; tokens; rates
Table sweep_table(std::span<const Point> points);
Table ratio_table(std::span<const NamedRatio> ratios);

// What a reader must know to trust the figures: late sends, failures and why, tokens that had to be
// counted by chunks, a run that was cut.
std::vector<std::string> remarks(const Point& point);

std::string plain(const LoadReport& report);  // for a terminal
Document page(const LoadReport& report);      // with plots

}  // namespace slipstream::command::load
