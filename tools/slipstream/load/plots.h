// The plots of a report, as self-contained SVG that is readable on light and on dark pages. Pure.
#pragma once

#include <span>
#include <string>

#include "tools/slipstream/load/line_plot.h"
#include "tools/slipstream/load/report.h"

namespace slipstream::command::load {

struct CdfMeasure {
  const char* name;
  LatencyHistogram Measures::* durations;
};
std::span<const CdfMeasure> cdf_measures();  // TTFT, ITL, TPOT, E2E

// Of a sweep: what became of tokens a second, and of TTFT and E2E (p50 and p99), as more was asked.
std::string sweep_plots(std::span<const Point> points, const std::string& unit);
// Which share of all is at most so long; one line for each point.
std::string cdf_plot(std::span<const Point> points, const CdfMeasure& measure);
// TTFT and E2E by the time at which a request was scheduled: p50 and p99 of each window.
std::string latency_plot(const Timeline& timeline);
// Tokens a second in each window, requests a second that were scheduled, and those that failed.
std::string throughput_plot(const Timeline& timeline);

}  // namespace slipstream::command::load
